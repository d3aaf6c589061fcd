import type { Document } from 'mongodb';

import { idOf } from '../../bson/bson.js';
import { entryAccess, keyRangesOf } from '../plan/access.js';
import { everyOf } from '../compile/compile.js';
import type { PlannedTarget } from '../plan/plan.js';
import { BY_ENTRY } from '../../indexes.js';
import { referenceParam } from '../../bson/index-rows.js';
import { isCanonicalOf, toCandidate, type Candidate } from './candidate.js';
import { TooFar, type TargetFilter, type Targets, type Effort } from './target-filter.js';
import type { Links } from './links.js';
import { CHUNK, chunksOf, readAllBy } from './read-all.js';

type Has = PlannedTarget & { readonly param: string };

/** So few are asked for one by one, each no further than to the first that refers to it. */
const ONE_BY_ONE = 12;

/** References that are looked at for each resource, in the mean, before another way is tried. */
const SCANNED = 40;

/**
 * Filters resources of a type by a reverse chain: keeps those to which a resource refers that fulfils its condition.
 */
export async function filterByHas(
  targets: Targets,
  links: Links,
  type: string,
  has: Has,
  candidates: readonly Candidate[],
  effort: Effort,
): Promise<readonly Candidate[]> {
  const asked = targets.toTargetFilter(links, has.type, has.where, { params: [has.param], names: false });
  const found = await referred(links, has, asked, candidates.map(({ key }) => key), effort); // prettier-ignore
  const left = candidates.filter(({ key, urls }) => !found.has(key) && urls.length > 0);
  if (left.length > 0 && links.isNameable(type) && (await links.hasUrls(has.type, has.param))) {
    for (const key of await named(links, type, has, asked, left, effort)) found.add(key);
  }
  return candidates.filter(({ key }) => found.has(key));
}

/**
 * Filters keys by references: keeps those whose resources a reference by type and id leads to.
 *
 * @param before only references of resources with keys below this count; absent: all
 */
export async function referred(
  links: Links,
  has: Pick<Has, 'type' | 'param'>,
  asked: TargetFilter,
  keys: readonly string[],
  effort: Effort,
  before?: string,
): Promise<Set<string>> {
  const found = new Set<string>();
  let open = [...keys].sort();
  while (open.length > ONE_BY_ONE) {
    const size = open.length;
    open = await askTogether(links, has, asked, open, found, before, effort);
    // They are referred to by many: each of those that are left takes as long.
    if (size - open.length < Math.min(size, CHUNK) / 8) break;
  }
  await Promise.all(open.map(async (key) => {
    if (await isReferred(links, has, asked, key, effort, before)) found.add(key);
  })); // prettier-ignore
  return found;
}

/** Goes through the references to all of some keys for a while. @returns those that were not reached, in order */
async function askTogether(
  { ask }: Links,
  { type, param }: Pick<Has, 'type' | 'param'>,
  { filter, projection, keep }: TargetFilter,
  keys: readonly string[],
  found: Set<string>,
  before: string | undefined,
  effort: Effort,
): Promise<string[]> {
  const hint = BY_ENTRY.reference;
  const limit = 2 * keys.length + 20;
  const [chunk = []] = chunksOf(keys);
  const rest = keys.slice(chunk.length);
  const referring = {
    type,
    reference: { $elemMatch: { p: param, to: { $in: [...chunk] } } },
    ...(before !== undefined && { _id: { $lt: before } }),
  };
  const scanned = SCANNED * chunk.length;
  const stages = [{ $match: filter }, { $limit: limit }, { $project: projection }];
  const { documents, isCut } = effort.isTrying
    ? await ask.pipeline([{ $match: referring }, { $limit: scanned }, ...stages], hint, limit)
    : await ask.read({ filter: everyOf([referring, filter]), hint, projection, limit });
  const isWhole = documents.length < limit && !isCut;
  if (isWhole && effort.isTrying && (await ask.isLonger(referring, hint, scanned))) throw new TooFar();
  const candidates = documents.map(toCandidate);
  const among = new Set(chunk);
  const placesFrom = ({ references }: Candidate): string[] =>
    references.flatMap(({ p, to }) => (p === param && to !== undefined && among.has(to) ? [to] : []));
  for (const to of (await keep(candidates, effort)).flatMap(placesFrom)) found.add(to);
  const last = candidates.at(-1);
  const isOpen = (key: string): boolean => !found.has(key);
  if (isWhole || last === undefined) return rest.filter(isOpen);
  // They come in the order of what they refer to, each by the first of that.
  const end = placesFrom(last).sort()[0] ?? '';
  return [...chunk.filter((key) => key >= end), ...rest].filter(isOpen);
}

/** How many are looked at to find one that fulfils links. */
const LOOKED_AT = [2, 20, 200, 1000];

/**
 * Whether something refers to a place.
 *
 * @param before with a key below this
 */
export async function isReferred(
  { ask }: Pick<Links, 'ask'>,
  { type, param }: Pick<Has, 'type' | 'param'>,
  { filter, projection, keep, hasLinks }: TargetFilter,
  place: string,
  effort: Effort,
  before?: string,
): Promise<boolean> {
  const [arm] = entryAccess(type, 'reference', param, { values: [place] }).arms;
  const { hint } = arm!;
  const { min: begin, max: end } = keyRangesOf(arm!)[0]!;
  const max = before === undefined ? end : { ...end, _id: before };
  let min = begin;
  for (let n = 0; ; n++) {
    const limit = hasLinks ? (LOOKED_AT[n] ?? 1000) : 1;
    const query: { filter: Document; hint: Document; projection: Document; limit: number; min: Document; max: Document } =
      { filter, hint, projection: hasLinks ? projection : { _id: 1 }, limit, min, max }; // prettier-ignore
    const { documents, isCut } = await ask.read(query);
    if ((await keep(documents.map(toCandidate), effort)).length > 0) return true;
    const last = documents.at(-1);
    if (last === undefined || (documents.length < limit && !isCut)) return false;
    min = { ...min, _id: `${idOf(last)}\0` };
  }
}

/** Those of some resources that canonicals name. */
async function named(
  links: Links,
  type: string,
  { type: source, param }: Has,
  asked: TargetFilter,
  candidates: readonly Candidate[],
  effort: Effort,
): Promise<ReadonlySet<string>> {
  const p = referenceParam(param, 'url');
  const byUrl = new Map<string, Candidate[]>();
  for (const one of candidates) for (const url of one.urls) byUrl.set(url, [...(byUrl.get(url) ?? []), one]);
  const found = new Set<string>();
  for (const chunk of chunksOf([...byUrl.keys()])) {
    const filters = [{ type: source, reference: { $elemMatch: { p, to: { $in: [...chunk] } } } }, asked.filter];
    for await (const documents of readAllBy(links.ask, BY_ENTRY.reference, filters, asked.projection)) {
      const rows = (await asked.keep(documents.map(toCandidate), effort)).flatMap(({ references }) => references);
      for (const row of rows) {
        if (row.p !== p) continue;
        for (const { key, versions } of byUrl.get(row.to ?? '') ?? []) {
          if (isCanonicalOf(row, type, versions)) found.add(key);
        }
      }
      if (found.size === candidates.length) return found;
    }
  }
  return found;
}
