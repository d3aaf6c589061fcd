import type { IncludeStep } from '../../includes.js';
import type { ResourceKey } from '../../store.js';
import type { Ask } from '../find/ask.js';
import { everyOf, LIVING } from '../find/compile.js';
import { rangeMatch } from '../find/row-match.js';
import { keyOf } from '../documents.js';
import { BY_ENTRY } from '../indexes.js';
import { referenceParam } from '../index-rows.js';
import { isCanonicalOf, placesBelow, placesOf, toHeld, toKey } from './held.js';
import { canonicalsOf } from './named.js';
import { chunksOf, readAllBy } from './read-all.js';

/** Resources that refer to some others, by some parameters. @param base as in `PageQuery` */
export async function sourcesOf(
  ask: Ask,
  { type, params, of, limit }: Extract<IncludeStep, { ask: 'sources' }>,
  base: string | undefined,
): Promise<readonly ResourceKey[]> {
  const found = new Set<string>();
  const used = await baseIn(ask, type, params, base);
  // In the order of what they refer to, then of ids: as the index has it.
  for (const chunk of chunksOf(of.map(keyOf), 200)) {
    const referring = {
      type,
      reference: { $elemMatch: { p: { $in: [...params] }, to: { $in: [...placesOf(chunk, used)] } } },
    };
    const query = { filter: everyOf([referring, LIVING]), hint: BY_ENTRY.reference, projection: { _id: 1 }, limit };
    const { documents } = await ask.read(query);
    for (const bytes of documents) found.add(toHeld(bytes).key);
    if (found.size >= limit) break;
  }
  if (found.size < limit) await addCanonicalSources(ask, { type, params, of, limit }, found);
  return [...found].slice(0, limit).map(toKey);
}

/** The base, if any reference of some parameters names a place with it. */
async function baseIn(
  ask: Ask,
  type: string,
  params: readonly string[],
  base: string | undefined,
): Promise<string | undefined> {
  if (base === undefined) return undefined;
  const referring = { p: { $in: [...params] }, to: rangeMatch(placesBelow(base)) };
  return (await ask.isLonger({ type, reference: { $elemMatch: referring } }, BY_ENTRY.reference, 0)) ? base : undefined;
}

/** Those that name some of them by a canonical. */
async function addCanonicalSources(
  ask: Ask,
  { type, params, of, limit }: Pick<Extract<IncludeStep, { ask: 'sources' }>, 'type' | 'params' | 'of' | 'limit'>,
  found: Set<string>,
): Promise<void> {
  const byUrl = new Map<string, { type: string; versions: readonly string[] }[]>();
  for await (const { key, urls, versions } of canonicalsOf({ ask }, of.map(keyOf))) {
    for (const url of urls) byUrl.set(url, [...(byUrl.get(url) ?? []), { type: toKey(key).type, versions }]);
  }
  if (byUrl.size === 0) return;
  const all = params.map((param) => referenceParam(param, 'url'));
  const projection = { _id: 1, reference: 1 };
  for (const chunk of chunksOf([...byUrl.keys()])) {
    const referring = { type, reference: { $elemMatch: { p: { $in: all }, to: { $in: [...chunk] } } } };
    for await (const documents of readAllBy(ask, BY_ENTRY.reference, [referring, LIVING], projection)) {
      for (const { key, references } of documents.map(toHeld)) {
        const isNamed = references.some(
          (row) =>
            all.includes(row.p) &&
            byUrl.get(row.to ?? '')?.some((target) => isCanonicalOf(row, target.type, target.versions)) === true,
        );
        if (isNamed) found.add(key);
        if (found.size >= limit) return;
      }
    }
  }
}
