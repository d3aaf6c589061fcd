import type { ReferenceRow } from '../../bson/documents.js';
import { LIVING } from '../compile/compile.js';
import { BY_ENTRY } from '../../indexes.js';
import { isCanonicalOf, projectionOf, toCandidate, URL_PARAM, type Candidate } from './candidate.js';
import type { Links } from './links.js';
import { chunksOf, readAllBy, readByKeys } from './read-all.js';

const NAMES = { params: [], names: true } as const;

/**
 * Reads the URLs and versions by which canonicals name the resources with some keys. Resources without a URL are left
 * out.
 */
export async function* canonicalsOf(links: Pick<Links, 'ask'>, keys: readonly string[]): AsyncGenerator<Candidate> {
  const hasUrl = { 'uri.p': URL_PARAM };
  for await (const documents of readByKeys(links.ask, keys, [hasUrl, LIVING], projectionOf(NAMES))) {
    yield* documents.map(toCandidate);
  }
}

/** Keys of the resources of a type that canonicals name. */
export async function* namedBy(
  links: Pick<Links, 'ask'>,
  type: string,
  canonicals: readonly ReferenceRow[],
): AsyncGenerator<string> {
  const byUrl = new Map<string, ReferenceRow[]>();
  for (const row of canonicals) {
    const same = byUrl.get(row.to ?? '') ?? [];
    byUrl.set(row.to ?? '', same);
    same.push(row);
  }
  for (const chunk of chunksOf([...byUrl.keys()])) {
    const filters = [{ type, uri: { $elemMatch: { p: URL_PARAM, value: { $in: [...chunk] } } } }, LIVING];
    for await (const documents of readAllBy(links.ask, BY_ENTRY.uri, filters, projectionOf(NAMES))) {
      for (const { key, urls, versions } of documents.map(toCandidate)) {
        const isNamed = urls.some((url) => byUrl.get(url)?.some((row) => isCanonicalOf(row, type, versions)) === true);
        if (isNamed) yield key;
      }
    }
  }
}
