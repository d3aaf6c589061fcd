import type { Document } from 'mongodb';

import { CHEAP_TOTAL } from '../../store.js';
import { BY_TYPE_AND_TIME, DELETED } from '../indexes.js';
import { isTimeUp } from '../mongo-errors.js';
import { typeAccess, type Access } from './plan/access.js';
import { chooseFurther, COLLECTED } from './plan/choose.js';
import { everyOf, restOf, type Way } from './compile/compile.js';
import { drivingIn } from './plan/driving.js';
import type { Search } from './open-search.js';
import { lengthOf } from './plan/probe.js';

/** Limit up to which access paths are compared for a cheap total; comparing further would cost too much. */
const NEAR = 3000;

/** Keys before and behind the last total that are listed to count exactly: few at first, for mostly little was written since. */
const LISTED = [50, 1000];

/** How many resources match. */
export async function countAll(search: Search): Promise<number> {
  const { conjuncts, listed } = search;
  if (listed !== undefined) return listed.length;
  if (conjuncts.length === 0) return countType(search);
  const exact = exactAccess(search);
  if (exact !== undefined) return countStretch(search, exact);
  return countDocuments(search);
}

/** Reads what one index finds. */
async function countDocuments(search: Search): Promise<number> {
  const { filters, hint } = await findingAll(search);
  return count(search, filters, hint);
}

/** What finds all that matches, with the index that is best for it. */
export async function findingAll(search: Search): Promise<{ filters: readonly Document[]; hint: Document }> {
  const { snapshot, probes, choice, listed } = search;
  if (listed !== undefined) return { filters: [{ _id: { $in: listed } }], hint: { _id: 1 } };
  const best = await chooseFurther(snapshot, probes, choice);
  return { filters: filtersOf(search, best?.way), hint: best?.way.access.hint ?? { _id: 1 } };
}

/** The same where it is cheap; undefined: it is not. */
export async function countCheaply(search: Search): Promise<number | undefined> {
  const { probes, name, listed } = search;
  if (listed !== undefined) return listed.length <= CHEAP_TOTAL.matches ? listed.length : undefined;
  // Of many that match a few more or less are as many, for a while.
  if (probes.isLong(name)) return undefined;
  const total = (await countByIndex(search)) ?? (await countSome(search));
  if (total !== undefined && total <= CHEAP_TOTAL.matches) return total;
  probes.noteLong(name, total !== undefined);
  return undefined;
}

/** By an index alone, one more than is cheap at most; undefined: none knows all that matches. */
async function countByIndex(search: Search): Promise<number | undefined> {
  const access = exactAccess(search);
  if (access === undefined) return undefined;
  return lengthOf(search.snapshot, access.stretches[0]!, access.hint, CHEAP_TOTAL.matches + 1);
}

/** The access path whose only stretch contains exactly what matches; undefined: there is none. */
function exactAccess({ conjuncts }: Search): Access | undefined {
  if (conjuncts.length > 1) return undefined;
  return conjuncts[0]?.accesses.find(({ isExact, stretches }) => isExact === true && stretches.length === 1);
}

/**
 * The exact number of resources in a stretch of an index, by the index alone: keys are skipped up to a little before the last total
 * of this search, and the rest is listed. Pipelines cannot be bounded by a stretch, and read each document, which takes four times
 * as long; they count where there is no last total, or a wrong one.
 */
async function countStretch(search: Search, { stretches, hint }: Access): Promise<number> {
  const { snapshot, probes, name } = search;
  const last = probes.lastTotal(name);
  let total: number | undefined;
  for (const listed of last === undefined ? LISTED.slice(-1) : LISTED) {
    const skip = Math.max(0, (last ?? 0) - listed);
    const rest = await lengthOf(snapshot, stretches[0]!, hint, 2 * listed + 1, skip);
    if (rest > 2 * listed || (rest === 0 && skip > 0)) continue;
    total = skip + rest;
    break;
  }
  total ??= await countDocuments(search);
  probes.noteTotal(name, total);
  return total;
}

/** One more than is cheap at most; undefined: even that takes long. */
async function countSome(search: Search): Promise<number | undefined> {
  const { snapshot, type, choice, probes } = search;
  const best = await chooseFurther(snapshot, probes, choice, NEAR);
  const hint = best?.way.access.hint ?? { _id: 1 };
  const limit = CHEAP_TOTAL.matches + 1;
  const filters = filtersOf(search, best?.way);
  try {
    return await count(search, filters, hint, limit, choice.isShort ? undefined : CHEAP_TOTAL.time);
  } catch (error) {
    if (choice.isShort || !isTimeUp(error)) throw error;
  }
  // Where little is looked at it was the server that had no time.
  return (await isShort(search)) ? count(search, filters, hint, limit) : undefined;

  async function isShort({ conjuncts }: Search): Promise<boolean> {
    // A single value was not counted yet.
    const way = conjuncts.length === 0 || best === undefined ? typeAccess(type) : best.way.access;
    const { isMore } = await probes.count(snapshot, way, COLLECTED);
    return !isMore;
  }
}

/** What is counted, what an index is used for first. */
function filtersOf({ type, conjuncts }: Search, way: Way | undefined): Document[] {
  return [drivingIn(type, way), ...restOf(conjuncts, way)];
}

async function count(
  { snapshot }: Search,
  filters: readonly Document[],
  hint: Document,
  limit?: number,
  time?: number,
): Promise<number> {
  const pipeline = [{ $match: everyOf(filters) }, ...(limit === undefined ? [] : [{ $limit: limit }]), { $count: 'n' }];
  const [row] = await snapshot.aggregate('resource', pipeline, hint, time);
  return Number(row?.['n'] ?? 0);
}

/** All of a type, less the deletions, both by an index alone. */
async function countType({ snapshot, type }: Search): Promise<number> {
  const group = { $count: 'n' };
  const [[all], [deleted]] = await Promise.all([
    snapshot.aggregate('resource', [{ $match: { type } }, group], BY_TYPE_AND_TIME),
    snapshot.aggregate('resource', [{ $match: { type, deleted: true } }, group], DELETED),
  ]);
  return Number(all?.['n'] ?? 0) - Number(deleted?.['n'] ?? 0);
}
