import type { Document } from 'mongodb';

import { append } from '../../../fhir/lists.js';
import type { ArmPlace, Placed } from '../../plan/cursor.js';
import { BY_TYPE_AND_TIME } from '../indexes.js';
import { armsWalk, KEY_ONLY } from './arms.js';
import { LIVING, restOf } from './compile/compile.js';
import { BY_ID, type Order } from './compile/order.js';
import type { Driver } from './drivers.js';
import type { Hit, Hits, HitWalk } from './hit.js';
import { TooFar } from './links/target-filter.js';
import { bothNeeds, candidateProjection, needOf, toCandidate, type Need } from './links/candidate.js';
import { filterByLinks } from './links/filter-links.js';
import { collectedWalk, orderWalk } from './sorted.js';
import type { Scope } from './scope.js';

/** The fields to be read of resources that are found. */
export type Reading = 'versions' | Need;

/** No more fields than a walk goes by. */
export const KEYS: Need = { params: [], names: false };

/** Candidates of the first piece, and of each after it, where links are asked. */
const PIECES = [50, 200, 1000, 5000];

/** Returns what is read of candidates: all at once where there are no links; else the fields that links need, and the rest later of those that are left. */
export function projectionOf({ isLinked, plan, links }: Scope, reading: Reading): Document {
  if (!isLinked) return reading === 'versions' ? links.projection : candidateProjection(reading);
  const own = needOf(plan);
  return candidateProjection(reading === 'versions' ? own : bothNeeds(own, reading));
}

/** Returns a walk in the order of the ranges of a driver. */
export function throughArms(scope: Scope, driver: Driver, reading: Reading): HitWalk<ArmPlace> {
  const { conjuncts, links } = scope;
  const { conjunct, arms, isExact } = driver;
  const filters = restOf(conjuncts, isExact ? conjunct : undefined);
  const projection = reading === KEYS && !scope.isLinked ? KEY_ONLY : projectionOf(scope, reading);
  return armsWalk(links, arms, filters, projection);
}

/** Returns a walk through all of the type, in the order of ids, or in another that an index has. */
export function throughType(scope: Scope, reading: Reading, order = BY_ID): HitWalk<Placed<string>> {
  return orderWalk(sortedOf(scope, order, reading));
}

function sortedOf(scope: Scope, order: Order, reading: Reading) {
  const { type, links, conjuncts } = scope;
  return { links, type, order, filters: livingOf(conjuncts), projection: projectionOf(scope, reading) };
}

function livingOf(conjuncts: Scope['conjuncts'], but?: Driver): Document[] {
  return [...restOf(conjuncts, but?.isExact === true ? but.conjunct : undefined), LIVING];
}

/** Keys of what several indexes find, to be sorted together: a command names no more. */
const MOST_LISTED = 20_000;

/** Returns a walk through all that a driver finds, or all of the type, sorted; and which of them: of a driver that finds too many it is all of the type. */
export async function sortedThrough(
  scope: Scope,
  from: Driver | undefined,
  order: Order,
  reading: Reading,
): Promise<{ readonly walk: HitWalk<Placed<string>>; readonly from: Driver | 'type' }> {
  const { type, conjuncts } = scope;
  const sorted = sortedOf(scope, order, reading);
  if (from !== undefined) {
    const own = { ...sorted, filters: livingOf(conjuncts, from) };
    const [arm, ...others] = from.arms;
    if (arm !== undefined && others.length === 0) return { walk: collectedWalk(own, arm.driving, arm.hint), from };
    // Links are asked later.
    const near = { ...scope, isLinked: false };
    const keys = (await allOf(near, throughArms(near, from, KEYS), MOST_LISTED))?.map(({ key }) => key);
    if (keys !== undefined) return { walk: collectedWalk(own, { _id: { $in: keys } }, { _id: 1 }), from };
  }
  return { walk: collectedWalk(sorted, { type }, BY_TYPE_AND_TIME), from: 'type' };
}

/** Finds the next of a walk that fulfil all that is asked. @returns as `Walk` */
export async function pageOf<At>(
  scope: Scope,
  walk: HitWalk<At>,
  after: At | undefined,
  wanted: number,
  rows: number,
): Promise<Hits | undefined> {
  if (rows <= 0) return undefined;
  if (!scope.isLinked) return walk.next(after, wanted, rows);
  const hits: Hit[] = [];
  let [at, looked] = [after, 0];
  for (let n = 0; ; n++) {
    const size = Math.max(PIECES[Math.min(n, PIECES.length - 1)]!, n === 0 ? wanted : 0);
    const found = await walk.next(at, size, rows - looked);
    if (found === undefined) return undefined;
    const kept = await keep(scope, found.hits, rows < Infinity);
    if (kept === undefined) return undefined;
    append(hits, kept);
    if (hits.length >= wanted) return { hits: hits.slice(0, wanted), isOver: false };
    if (found.isOver) return { hits, isOver: true };
    looked += found.hits.length;
    if (looked >= rows) return undefined;
    at = walk.placeOf(found.hits.at(-1)!);
  }
}

/** Returns the hits whose links lead to what they should; undefined: that takes too long. */
async function keep(
  { links, type, plan }: Scope,
  hits: readonly Hit[],
  isTrying: boolean,
): Promise<readonly Hit[] | undefined> {
  try {
    const left = await filterByLinks(links, type, plan, hits.map(({ bytes }) => toCandidate(bytes)), { isTrying }); // prettier-ignore
    const kept = new Set(left.map(({ key }) => key));
    return hits.filter(({ key }) => kept.has(key));
  } catch (error) {
    if (error instanceof TooFar) return undefined;
    throw error;
  }
}

/** How many are read at a time where all are. */
const AT_A_TIME = 5000;

/** Returns all that a walk finds; undefined: more than so many. */
export async function allOf<At>(
  scope: Scope,
  walk: HitWalk<At>,
  most = Infinity,
  rows = Infinity,
): Promise<readonly Hit[] | undefined> {
  const hits: Hit[] = [];
  let at: At | undefined;
  for (;;) {
    const found = await pageOf(scope, walk, at, Math.min(AT_A_TIME, most - hits.length + 1), rows);
    if (found === undefined) return undefined;
    append(hits, found.hits);
    if (hits.length > most) return undefined;
    const last = found.hits.at(-1);
    if (found.isOver || last === undefined) return hits;
    at = walk.placeOf(last);
  }
}
