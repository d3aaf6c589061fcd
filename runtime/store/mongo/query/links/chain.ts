import { BY_ENTRY } from '../../indexes.js';
import type { ReferenceRow } from '../../bson/documents.js';
import type { PlannedLink, PlannedTarget } from '../plan/plan.js';
import { referenceParam } from '../../bson/index-rows.js';
import { isCanonicalOf, toHeld, typeOfPlace, URL_PARAM, type Held } from './held.js';
import type { Beyond, Reach } from './asked.js';
import type { Links } from './links.js';
import { chunksOf, readAllBy } from './read-all.js';

/** Those of some resources that have a reference which leads to a resource that does. */
export async function holdChain(
  beyond: Beyond,
  links: Links,
  { param, chain }: Extract<PlannedLink, { chain: unknown }>,
  held: readonly Held[],
  reach: Reach,
): Promise<readonly Held[]> {
  const urlParam = referenceParam(param, 'url');
  let left = held;
  const found = new Set<Held>();
  const byType = new Map<string, Set<string>>();
  for (const row of held.flatMap(({ references }) => references)) {
    const type = row.p === param ? typeOfPlace(row) : undefined;
    if (type !== undefined) byType.set(type, (byType.get(type) ?? new Set()).add(`${type}/${row.id!}`));
  }
  const keep = (one: Held): void => void found.add(one);
  for (const { type, where } of chain) {
    const keys = byType.get(type);
    if (keys === undefined) continue;
    const good = await beyond.holdKeys(links, type, where, [...keys], reach);
    const leads = (row: ReferenceRow): boolean =>
      row.p === param && typeOfPlace(row) === type && good.has(`${type}/${row.id!}`);
    left.filter(({ references }) => references.some(leads)).forEach(keep);
  }
  left = held.filter((one) => !found.has(one) && one.references.some(({ p }) => p === urlParam));
  const types = left.length > 0 && chain.length > FEW_TYPES ? await links.types() : undefined;
  for (const target of chain) {
    if (left.length === 0) break;
    if (types?.has(target.type) === false || !links.isNameable(target.type)) continue;
    const urls = left.flatMap(({ references }) =>
      references.flatMap(({ p, to }) => (p === urlParam ? [to ?? ''] : [])),
    );
    const named = await namedBy(beyond, links, target, [...new Set(urls)], reach);
    const isLed = ({ references }: Held): boolean =>
      references.some((row) => {
        const versions = row.p === urlParam ? named.get(row.to ?? '') : undefined;
        return versions?.some((each) => isCanonicalOf(row, target.type, each)) === true;
      });
    left.filter(isLed).forEach(keep);
    left = left.filter((one) => !found.has(one));
  }
  return held.filter((one) => found.has(one));
}

/** More types are first looked at whether there is anything of them. */
export const FEW_TYPES = 4;

/** The versions of each resource that has one of some URLs and fulfils a plan, by URL. */
async function namedBy(
  beyond: Beyond,
  links: Links,
  { type, where }: PlannedTarget,
  urls: readonly string[],
  reach: Reach,
): Promise<ReadonlyMap<string, readonly (readonly string[])[]>> {
  const asked = beyond.toAsked(links, type, where, { params: [], names: true });
  const named = new Map<string, (readonly string[])[]>();
  for (const chunk of chunksOf(urls)) {
    const hint = BY_ENTRY.uri;
    const filters = [{ type, uri: { $elemMatch: { p: URL_PARAM, value: { $in: [...chunk] } } } }, asked.filter];
    for await (const documents of readAllBy(links.ask, hint, filters, asked.projection)) {
      for (const { urls: own, versions } of await asked.keep(documents.map(toHeld), reach)) {
        for (const url of own) named.set(url, [...(named.get(url) ?? []), versions]);
      }
    }
  }
  return named;
}
