import type { Document } from 'mongodb';

import { idOf } from '../../bson/bson.js';
import { entryAccess, stretchesOf } from '../plan/access.js';
import { everyOf } from '../compile/compile.js';
import type { PlannedTarget } from '../plan/plan.js';
import { BY_ENTRY } from '../../indexes.js';
import { referenceParam } from '../../bson/index-rows.js';
import { isCanonicalOf, toHeld, type Held } from './held.js';
import { TooFar, type Asked, type Beyond, type Reach } from './asked.js';
import type { Links } from './links.js';
import { CHUNK, chunksOf, readAllBy } from './read-all.js';

type Has = PlannedTarget & { readonly param: string };

/** So few are asked for one by one, each no further than to the first that refers to it. */
const ONE_BY_ONE = 12;

/** References that are looked at for each resource, in the mean, before another way is tried. */
const SCANNED = 40;

/** Those of some resources of a type to which a resource refers that does. */
export async function holdHas(
  beyond: Beyond,
  links: Links,
  type: string,
  has: Has,
  held: readonly Held[],
  reach: Reach,
): Promise<readonly Held[]> {
  const asked = beyond.toAsked(links, has.type, has.where, { params: [has.param], names: false });
  const found = await referred(links, has, asked, held.map(({ key }) => key), reach); // prettier-ignore
  const left = held.filter(({ key, urls }) => !found.has(key) && urls.length > 0);
  if (left.length > 0 && links.isNameable(type) && (await links.hasUrls(has.type, has.param))) {
    for (const key of await named(links, type, has, asked, left, reach)) found.add(key);
  }
  return held.filter(({ key }) => found.has(key));
}

/** Those of some keys to whose places references lead. @param before of resources with keys below this; absent: of all */
export async function referred(
  links: Links,
  has: Pick<Has, 'type' | 'param'>,
  asked: Asked,
  keys: readonly string[],
  reach: Reach,
  before?: string,
): Promise<Set<string>> {
  const found = new Set<string>();
  let open = [...keys].sort();
  while (open.length > ONE_BY_ONE) {
    const size = open.length;
    open = await askTogether(links, has, asked, open, found, before, reach);
    // They are referred to by many: each of those that are left takes as long.
    if (size - open.length < Math.min(size, CHUNK) / 8) break;
  }
  await Promise.all(open.map(async (key) => {
    if (await isReferred(links, has, asked, key, reach, before)) found.add(key);
  })); // prettier-ignore
  return found;
}

/** Goes through the references to all of some keys for a while. @returns those that were not reached, in order */
async function askTogether(
  { ask }: Links,
  { type, param }: Pick<Has, 'type' | 'param'>,
  { filter, projection, keep }: Asked,
  keys: readonly string[],
  found: Set<string>,
  before: string | undefined,
  reach: Reach,
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
  const { documents, isCut } = reach.isTrying
    ? await ask.pipeline([{ $match: referring }, { $limit: scanned }, ...stages], hint, limit)
    : await ask.read({ filter: everyOf([referring, filter]), hint, projection, limit });
  const isWhole = documents.length < limit && !isCut;
  if (isWhole && reach.isTrying && (await ask.isLonger(referring, hint, scanned))) throw new TooFar();
  const held = documents.map(toHeld);
  const among = new Set(chunk);
  const placesFrom = ({ references }: Held): string[] =>
    references.flatMap(({ p, to }) => (p === param && to !== undefined && among.has(to) ? [to] : []));
  for (const to of (await keep(held, reach)).flatMap(placesFrom)) found.add(to);
  const last = held.at(-1);
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
  { filter, projection, keep, hasLinks }: Asked,
  place: string,
  reach: Reach,
  before?: string,
): Promise<boolean> {
  const [arm] = entryAccess(type, 'reference', param, { values: [place] }).arms;
  const { hint } = arm!;
  const { min: begin, max: end } = stretchesOf(arm!)[0]!;
  const max = before === undefined ? end : { ...end, _id: before };
  let min = begin;
  for (let n = 0; ; n++) {
    const limit = hasLinks ? (LOOKED_AT[n] ?? 1000) : 1;
    const query: { filter: Document; hint: Document; projection: Document; limit: number; min: Document; max: Document } =
      { filter, hint, projection: hasLinks ? projection : { _id: 1 }, limit, min, max }; // prettier-ignore
    const { documents, isCut } = await ask.read(query);
    if ((await keep(documents.map(toHeld), reach)).length > 0) return true;
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
  asked: Asked,
  held: readonly Held[],
  reach: Reach,
): Promise<ReadonlySet<string>> {
  const p = referenceParam(param, 'url');
  const byUrl = new Map<string, Held[]>();
  for (const one of held) for (const url of one.urls) byUrl.set(url, [...(byUrl.get(url) ?? []), one]);
  const found = new Set<string>();
  for (const chunk of chunksOf([...byUrl.keys()])) {
    const filters = [{ type: source, reference: { $elemMatch: { p, to: { $in: [...chunk] } } } }, asked.filter];
    for await (const documents of readAllBy(links.ask, BY_ENTRY.reference, filters, asked.projection)) {
      const rows = (await asked.keep(documents.map(toHeld), reach)).flatMap(({ references }) => references);
      for (const row of rows) {
        if (row.p !== p) continue;
        for (const { key, versions } of byUrl.get(row.to ?? '') ?? []) {
          if (isCanonicalOf(row, type, versions)) found.add(key);
        }
      }
      if (found.size === held.length) return found;
    }
  }
  return found;
}
