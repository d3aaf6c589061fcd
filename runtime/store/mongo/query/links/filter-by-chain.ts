import { BY_ENTRY } from '../../indexes.js';
import type { ReferenceRow } from '../../bson/documents.js';
import type { PlannedLink, PlannedTarget } from '../plan/plan.js';
import { referenceParam } from '../../bson/index-rows.js';
import { isCanonicalOf, toCandidate, typeOfPlace, URL_PARAM, type Candidate } from './candidate.js';
import type { Targets, Effort } from './target-filter.js';
import type { Links } from './links.js';
import { chunksOf, readAllBy } from './read-all.js';

/**
 * Filters resources by a chain: keeps those that have a reference to a resource that fulfils the condition of the
 * chain.
 */
export async function filterByChain(
  targets: Targets,
  links: Links,
  { param, chain }: Extract<PlannedLink, { chain: unknown }>,
  candidates: readonly Candidate[],
  effort: Effort,
): Promise<readonly Candidate[]> {
  const urlParam = referenceParam(param, 'url');
  let left = candidates;
  const found = new Set<Candidate>();
  const byType = new Map<string, Set<string>>();
  for (const row of candidates.flatMap(({ references }) => references)) {
    const type = row.p === param ? typeOfPlace(row) : undefined;
    if (type !== undefined) byType.set(type, (byType.get(type) ?? new Set()).add(`${type}/${row.id!}`));
  }
  const keep = (one: Candidate): void => void found.add(one);
  for (const { type, where } of chain) {
    const keys = byType.get(type);
    if (keys === undefined) continue;
    const good = await targets.filterKeys(links, type, where, [...keys], effort);
    const leads = (row: ReferenceRow): boolean =>
      row.p === param && typeOfPlace(row) === type && good.has(`${type}/${row.id!}`);
    left.filter(({ references }) => references.some(leads)).forEach(keep);
  }
  left = candidates.filter((one) => !found.has(one) && one.references.some(({ p }) => p === urlParam));
  const types = left.length > 0 && chain.length > FEW_TYPES ? await links.types() : undefined;
  for (const target of chain) {
    if (left.length === 0) break;
    if (types?.has(target.type) === false || !links.isNameable(target.type)) continue;
    const urls = left.flatMap(({ references }) =>
      references.flatMap(({ p, to }) => (p === urlParam ? [to ?? ''] : [])),
    );
    const named = await namedBy(targets, links, target, [...new Set(urls)], effort);
    const isLed = ({ references }: Candidate): boolean =>
      references.some((row) => {
        const versions = row.p === urlParam ? named.get(row.to ?? '') : undefined;
        return versions?.some((each) => isCanonicalOf(row, target.type, each)) === true;
      });
    left.filter(isLed).forEach(keep);
    left = left.filter((one) => !found.has(one));
  }
  return candidates.filter((one) => found.has(one));
}

/** More types are first looked at whether there is anything of them. */
export const FEW_TYPES = 4;

/** The versions of each resource that has one of some URLs and fulfils a plan, by URL. */
async function namedBy(
  targets: Targets,
  links: Links,
  { type, where }: PlannedTarget,
  urls: readonly string[],
  effort: Effort,
): Promise<ReadonlyMap<string, readonly (readonly string[])[]>> {
  const asked = targets.toTargetFilter(links, type, where, { params: [], names: true });
  const named = new Map<string, (readonly string[])[]>();
  for (const chunk of chunksOf(urls)) {
    const hint = BY_ENTRY.uri;
    const filters = [{ type, uri: { $elemMatch: { p: URL_PARAM, value: { $in: [...chunk] } } } }, asked.filter];
    for await (const documents of readAllBy(links.ask, hint, filters, asked.projection)) {
      for (const { urls: own, versions } of await asked.keep(documents.map(toCandidate), effort)) {
        for (const url of own) named.set(url, [...(named.get(url) ?? []), versions]);
      }
    }
  }
  return named;
}
