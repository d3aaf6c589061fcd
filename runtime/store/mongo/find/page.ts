import type { FindQuery } from '../../store.js';
import type { Batch, Snapshot } from '../snapshot.js';
import { openAsk, type Ask } from './ask.js';
import { choose, chooseFurther, type Choice } from './choose.js';
import { compile, drivingOf, everyOf, restOf, type Conjunct } from './compile.js';
import { sortComputed } from './computed.js';
import type { FindCursor } from './cursor.js';
import type { Order } from './order.js';
import type { Probes } from './probe.js';
import { idRange, toSegments, type Segment } from './segments.js';
import { collect, walkAWhile, walkWhole } from './walk.js';

/** A search while it is done. */
export interface Search {
  readonly snapshot: Snapshot;
  readonly probes: Probes;
  readonly type: string;
  readonly order: Order;
  readonly after: FindCursor | undefined;
  readonly conjuncts: readonly Conjunct[];
  readonly choice: Choice;
}

/** What was found, and how. */
export interface Found {
  readonly batch: Batch;
  readonly ask: Ask;
  /** What it began with. */
  readonly driving: () => string;
}

/** @param after the cursor, read for this order */
export async function openSearch(
  snapshot: Snapshot,
  probes: Probes,
  { type, where }: FindQuery,
  order: Order,
  after: FindCursor | undefined,
): Promise<Search> {
  const conjuncts = compile(type, where);
  const rest = { snapshot, probes, type, order, after, conjuncts };
  const [only] = conjuncts;
  const [way] = only?.accesses ?? [];
  // One value in the order of ids: there is nothing to choose.
  if (
    only !== undefined &&
    way !== undefined &&
    isPlain(conjuncts, order) &&
    only.accesses.length === 1 &&
    way.isOrdered
  ) {
    const best = { way: { access: way, conjunct: only }, matches: 0, isMore: true };
    return { ...rest, choice: { best, isShort: false, probed: [] } };
  }
  return { ...rest, choice: await choose(snapshot, probes, conjuncts) };
}

function isPlain(conjuncts: readonly Conjunct[], order: Order): boolean {
  return conjuncts.length === 1 && order.by === 'id';
}

/** The next documents of a search, at most so many. */
export async function findPage(search: Search, limit: number): Promise<Found> {
  const { snapshot, probes, type, order, after, conjuncts, choice } = search;
  const ask = openAsk(snapshot);
  const segments = order.by === 'computed' ? undefined : toSegments(type, order, after);
  if (segments !== undefined && !choice.isShort) {
    const walked = await walk(search, ask, segments, limit);
    if (walked !== undefined) return { ...walked, ask };
  }
  const best = choice.isShort ? choice.best : await chooseFurther(snapshot, probes, choice);
  const way = best?.way;
  const driving = everyOf([{ type, ...idRange(type, undefined, 1) }, way === undefined ? {} : drivingOf(way)]);
  const others = restOf(conjuncts, way);
  const hint = way?.access.hint;
  const batch =
    segments === undefined
      ? await sortComputed(ask, type, order, after, [driving, ...others], hint, limit)
      : await collect(ask, segments, { driving, others }, hint, limit);
  return { batch, ask, driving: way?.conjunct.name ?? (() => `every ${type}`) };
}

/** By an index that has the order, where that leads to enough before it goes too far. */
async function walk(
  { type, order, conjuncts, choice: { best, probed } }: Search,
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
