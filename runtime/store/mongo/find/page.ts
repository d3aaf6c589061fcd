import type { FindQuery } from '../../store.js';
import type { Batch, Snapshot } from '../snapshot.js';
import { valueStretch } from './access.js';
import { openAsk, type Ask } from './ask.js';
import { choose, chooseFurther, type Choice } from './choose.js';
import { compile, drivingOf, everyOf, restOf, type Conjunct, type Way } from './compile.js';
import { sortComputed } from './computed.js';
import type { FindCursor } from './cursor.js';
import type { Order } from './order.js';
import { askedFor, type Plan } from './plan.js';
import type { Probes } from './probe.js';
import { behind, listKeys, listMatches, listWay } from './list.js';
import { idRange, toSegments, type Segment } from './segments.js';
import { collect, walkAWhile, walkWhole } from './walk.js';

/** A search while it is done. */
export interface Search {
  readonly snapshot: Snapshot;
  readonly probes: Probes;
  readonly ask: Ask;
  /** What it looks for, as text that no other has. */
  readonly name: string;
  readonly type: string;
  readonly order: Order;
  readonly after: FindCursor | undefined;
  readonly conjuncts: readonly Conjunct[];
  readonly choice: Choice;
  /** The `_id` of all that matches, in the order of the search, where that was found out. */
  readonly listed?: readonly string[];
}

/** What was found, and how. */
export interface Found {
  readonly batch: Batch;
  readonly ask: Ask;
  /** What it began with. */
  readonly driving: () => string;
}

/** What is looked for: of a query, with a plan that has no links. */
export interface Sought extends Pick<FindQuery, 'type' | 'count' | 'total' | 'base'> {
  readonly where: Plan;
}

/** @param after the cursor, read for this order */
export async function openSearch(
  snapshot: Snapshot,
  probes: Probes,
  { type, where, count, total }: Sought,
  order: Order,
  after: FindCursor | undefined,
  ask: Ask = openAsk(snapshot),
): Promise<Search> {
  const conjuncts = compile(type, where);
  const name = nameOf(type, where);
  const rest = { snapshot, probes, ask, name, type, order, after, conjuncts };
  const all = listWay(conjuncts, order);
  if (all !== undefined && !probes.isLong(`list ${name}`)) {
    const listed = await listKeys(ask, all, order);
    if (listed !== undefined) return { ...rest, listed, choice: chosen(all, listed.length) };
    probes.noteLong(`list ${name}`);
  }
  const isListed = total !== 'none' && after === undefined;
  const [only] = conjuncts;
  const [way] = only?.accesses ?? [];
  const isOrdered = only?.accesses.length === 1 && way?.isOrdered === true;
  // One value in the order of ids: there is nothing to choose.
  if (only !== undefined && way !== undefined && isOrdered && isPlain(conjuncts, order)) {
    const best = { way: { access: way, conjunct: only }, matches: 0, isMore: true };
    return { ...rest, choice: { best, isShort: false, probed: [] } };
  }
  const choice = await choose(snapshot, probes, conjuncts);
  if (!isListed || !choice.isShort || order.by !== 'id') return { ...rest, choice };
  // More than a page, of which the order is not that of ids: looked through once, for the page and its total.
  const { best } = choice;
  if (best === undefined || best.matches <= count || best.way.access.isOrdered) return { ...rest, choice };
  const filters = [{ type, ...idRange(type, undefined, 1) }, drivingOf(best.way), ...restOf(conjuncts, best.way)];
  const listed = await listMatches(ask, everyOf(filters), best.way.access.hint, order);
  return { ...rest, choice, ...(listed !== undefined && { listed }) };
}

/** A condition as text; JSON has no infinite numbers. */
export function nameOf(type: string, where: Plan): string {
  const isInfinite = (value: unknown): boolean => Math.abs(Number(value)) === Infinity && typeof value === 'number';
  return `${type} ${JSON.stringify(askedFor(where), (_, value: unknown) => (isInfinite(value) ? `${value as number}` : value))}`;
}

function chosen(way: Way, matches: number): Choice {
  const best = { way, matches, isMore: false };
  return { best, isShort: true, probed: [best] };
}

function isPlain(conjuncts: readonly Conjunct[], order: Order): boolean {
  return conjuncts.length === 1 && order.by === 'id';
}

/** The next documents of a search, at most so many. */
export async function findPage(search: Search, limit: number): Promise<Found> {
  const { snapshot, probes, ask, type, order, after, conjuncts, choice, listed } = search;
  if (listed !== undefined) {
    const next = behind(listed, after === undefined ? undefined : `${type}/${after.id}`, order).slice(0, limit);
    const { conjunct } = choice.best!.way;
    if (next.length === 0) return { batch: { documents: [], isCut: false }, ask, driving: conjunct.name };
    const batch = await ask.find({ _id: { $in: next } }, { _id: order.idSign }, { _id: 1 }, limit);
    return { batch, ask, driving: conjunct.name };
  }
  const segments = order.by === 'computed' ? undefined : toSegments(type, order, after);
  if (segments !== undefined && !choice.isShort) {
    const walked = await walk(search, ask, segments, limit);
    if (walked !== undefined) return { ...walked, ask };
  }
  const best = choice.isShort ? choice.best : await chooseFurther(snapshot, probes, choice);
  const way = best?.way;
  const stretch = way === undefined || segments === undefined ? undefined : valueStretch(way.access);
  const condition = way === undefined || stretch !== undefined ? {} : drivingOf(way);
  const driving = everyOf([{ type, ...idRange(type, undefined, 1) }, condition]);
  const others = restOf(conjuncts, way);
  const hint = way?.access.hint;
  const batch =
    segments === undefined
      ? await sortComputed(ask, type, order, after, [driving, ...others], hint, limit)
      : await collect(ask, segments, { driving, others }, hint, limit, stretch);
  return { batch, ask, driving: way?.conjunct.name ?? (() => `every ${type}`) };
}

/** By an index that has the order, where that leads to enough before it goes too far. */
async function walk(
  { type, order, after, conjuncts, choice: { best, probed } }: Search,
  ask: Ask,
  segments: readonly Segment[],
  limit: number,
): Promise<Pick<Found, 'batch' | 'driving'> | undefined> {
  const ordered = [best, ...probed].find((each) => order.by === 'id' && each?.way.access.isOrdered === true);
  if (ordered !== undefined) {
    const { access, conjunct } = ordered.way;
    const filters = { driving: everyOf([{ type }, drivingOf(ordered.way)]), others: restOf(conjuncts, ordered.way) };
    // All that is found there matches.
    const isAll = conjuncts.length === 1 && access.part === undefined;
    const stretch = isAll && order.idSign === 1 ? valueStretch(access, after && `${type}/${after.id}`) : undefined;
    if (stretch !== undefined) {
      // What is deleted has no entries.
      const batch = await ask.find({}, { _id: 1 }, access.hint, limit, stretch);
      return { batch, driving: conjunct.name };
    }
    const batch = isAll
      ? await collect(ask, segments, filters, access.hint, limit)
      : await walkAWhile(ask, segments, filters, limit, access.hint);
    return batch === undefined ? undefined : { batch, driving: conjunct.name };
  }
  const others = restOf(conjuncts);
  const batch =
    best === undefined
      ? await walkWhole(ask, segments, others, limit)
      : await walkAWhile(ask, segments, { driving: {}, others }, limit);
  const [key] = order.keys;
  const driving = () => (key === undefined ? `every ${type}` : `every ${type} by ${key.field}`);
  return batch === undefined ? undefined : { batch, driving };
}
