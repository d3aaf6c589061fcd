import type { Document } from 'mongodb';

import type { FindQuery } from '../../store.js';
import type { Batch, Snapshot } from '../snapshot.js';
import { openAsk, type Ask } from './ask.js';
import { choose, chooseFurther, type Choice } from './choose.js';
import { compile, everyOf, type Conjunct } from './compile.js';
import { sortComputed } from './computed.js';
import type { FindCursor } from './cursor.js';
import type { Order } from './order.js';
import type { Probes } from './probe.js';
import { idRange, toSegments, type Segment } from './segments.js';
import { collect, walkAWhile, walkWhole } from './walk.js';

/** Deletions have no entries, but ids and times. */
export const LIVING: Document = { deleted: { $exists: false } };

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
  readonly driving: string;
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
  const found = (batch: Batch, driving: string): Found => ({ batch, ask, driving });
  const filters = conjuncts.map(({ filter }) => filter);
  const segments = order.by === 'computed' ? [] : toSegments(type, order, after);

  if (order.by !== 'computed' && !choice.isShort) {
    const walked = await walk(search, ask, segments, limit);
    if (walked !== undefined) return found(...walked);
  }
  const best = choice.isShort ? choice.best : await chooseFurther(snapshot, probes, choice);
  const driving = best?.way.conjunct.filter ?? {};
  const others = conjuncts.filter(({ filter }) => filter !== driving).map(({ filter }) => filter);
  const hint = best?.way.access.hint;
  const name = best?.way.conjunct.name ?? `every ${type}`;
  if (order.by !== 'computed') {
    const batch = await collect(
      ask,
      segments,
      { driving: everyOf([{ type }, driving]), others: [...others, LIVING] },
      hint,
      limit,
    );
    return found(batch, name);
  }
  const all = [{ type, ...idRange(type, undefined, 1) }, driving, ...(best === undefined ? filters : others), LIVING];
  return found(await sortComputed(ask, type, order, after, all, hint, limit), name);
}

/** By an index that has the order, where that leads to enough before it goes too far. */
async function walk(
  { type, order, conjuncts, choice: { best, probed } }: Search,
  ask: Ask,
  segments: readonly Segment[],
  limit: number,
): Promise<readonly [Batch, string] | undefined> {
  const filters = conjuncts.map(({ filter }) => filter);
  const [key] = order.keys;
  const name = key === undefined ? `every ${type}` : `every ${type} by ${key.field}`;
  const ordered =
    order.by === 'id' ? [best, ...probed].find((each) => each?.way.access.isOrdered === true)?.way : undefined;
  if (ordered !== undefined) {
    const { access, conjunct } = ordered;
    const driving = everyOf([{ type }, conjunct.filter]);
    const others = conjuncts.filter((each) => each !== conjunct).map(({ filter }) => filter);
    if (others.length === 0) {
      const batch = await collect(ask, segments, { driving, others: [LIVING] }, access.hint, limit);
      return [batch, conjunct.name];
    }
    const batch = await walkAWhile(ask, segments, { driving, others: [...others, LIVING] }, limit, access.hint);
    return batch === undefined ? undefined : [batch, conjunct.name];
  }
  if (best === undefined) return [await walkWhole(ask, segments, [...filters, LIVING], limit), name];
  const batch = await walkAWhile(ask, segments, { driving: {}, others: [...filters, LIVING] }, limit);
  return batch === undefined ? undefined : [batch, name];
}
