import type { Batch } from '../read/batch.js';
import { valueStretch } from './plan/access.js';
import type { Ask } from './ask.js';
import { chooseFurther } from './plan/choose.js';
import { restOf } from './compile/compile.js';
import { sortComputed } from './computed.js';
import { drivingIn } from './plan/driving.js';
import { behind } from './list.js';
import type { Search } from './open-search.js';
import { toCollected, toSegments, type Segment } from './plan/segments.js';
import { collect, walkAWhile, walkWhole } from './walk.js';

/** What was found, and how. */
export interface Found {
  readonly batch: Batch;
  readonly ask: Ask;
  /** What it began with. */
  readonly driving: () => string;
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
  const driving = drivingIn(type, stretch === undefined ? way : undefined);
  const others = restOf(conjuncts, way);
  const hint = way?.access.hint;
  const batch =
    segments === undefined
      ? await sortComputed(ask, type, order, after, [driving, ...others], hint, limit)
      : await collect(ask, toCollected(type, order, after), { driving, others }, hint, limit, stretch);
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
    const filters = { driving: drivingIn(type, ordered.way), others: restOf(conjuncts, ordered.way) };
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
