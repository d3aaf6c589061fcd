import type { Document } from 'mongodb';

import { CHEAP_TOTAL } from '../../store.js';
import { BY_ENTRY, BY_TYPE_AND_TIME, DELETED } from '../indexes.js';
import { isTimeUp } from '../mongo-errors.js';
import { everyOf, LIVING, restOf } from './compile/compile.js';
import { fewestRows, findDrivers, onlyDriver, type Driver } from './drivers.js';
import { hasLinks } from './plan/plan.js';
import { allAccess, sizeOfArm, stretchesOf, typeStretch, type Arm } from './plan/access.js';
import { lengthOf } from './plan/probe.js';
import { reduce } from './links/reduce.js';
import { openScope, type Scope } from './scope.js';
import { allOf, KEYS, throughArms, throughType } from './walks.js';

/** How far rows are counted where the condition with the fewest is looked for. */
const DEEP = [1000, 10_000, 100_000, 1_000_000];

/** Matches that are not counted by one range of an index alone are counted up to so many: each costs some of what a page costs. */
const FEW_ASKED = 250;

/** Keys before and behind the last total that are listed to count exactly: few at first, for mostly little was written since. */
const LISTED = [50, 1000];

/** Counts the resources that match. */
export async function countAll(scope: Scope): Promise<number> {
  const { links, type, conjuncts } = scope;
  if (scope.isLinked) return countLinked(scope);
  if (conjuncts.length === 0) return countType(scope);
  const arm = exactArm(scope);
  return arm === undefined ? countDocuments(scope, await bestOf(scope)) : countArm(scope, arm);

  /** Where other sides of links are some thousands they are collected: each resource is asked then whether it refers to one. */
  async function countLinked({ plan, limits }: Scope): Promise<number> {
    const reduced = await reduce(links, type, plan, limits.few * limits.more);
    const own = openScope(links, type, reduced);
    if (!hasLinks(reduced)) return countAll(own);
    const best = await bestOf(own);
    const all = await (best === undefined ? allOf(own, throughType(own, KEYS)) : allOf(own, throughArms(own, best, KEYS))); // prettier-ignore
    return all?.length ?? 0;
  }
}

/** Counts them where that costs no more than a page does; undefined: it is not known. @param most a total above this is not wanted */
export async function countCheaply(scope: Scope, most: number = CHEAP_TOTAL.matches): Promise<number | undefined> {
  const { links, conjuncts, type } = scope;
  const { snapshot, probes } = links;
  if (most < 0) return undefined;
  if (conjuncts.length === 0) {
    const size = await probes.count(snapshot, allAccess(type).arms, most);
    return size > most ? undefined : countDocuments(scope, undefined);
  }
  const arm = scope.isLinked ? undefined : exactArm(scope);
  if (arm !== undefined) {
    // That there are more is known for some seconds; how many there are has to be right.
    if ((await probes.count(snapshot, [arm], most)) > most) return undefined;
    const count = await lengthOf(snapshot, stretchesOf(arm)[0]!, arm.hint, most + 1);
    return count > most ? undefined : count;
  }
  const few = Math.min(most, FEW_ASKED);
  const drivers = await findDrivers(conjuncts, { snapshot, probes, limit: few });
  const best = fewestRows(drivers);
  if (best === undefined || best.count > few) return undefined;
  if (scope.isLinked) return (await allOf(scope, throughArms(scope, best, KEYS), few))?.length;
  try {
    return await countDocuments(scope, best, CHEAP_TOTAL.time * 10);
  } catch (error) {
    if (isTimeUp(error)) return undefined;
    throw error;
  }
}

/** Returns the driver that finds all with the fewest rows; undefined: all of the type are looked at. */
async function bestOf({ conjuncts, links }: Scope): Promise<Driver | undefined> {
  const only = onlyDriver(conjuncts);
  if (only !== undefined) return only;
  const { snapshot, probes } = links;
  let best: Driver | undefined;
  for (const limit of DEEP) {
    best = fewestRows(await findDrivers(conjuncts, { snapshot, probes, limit }));
    if (best === undefined || best.count <= limit) break;
  }
  return best;
}

/** The only arm, of one value or range, that has what matches, and nothing else; undefined: there is none. */
function exactArm({ conjuncts }: Scope): Arm | undefined {
  const driver = conjuncts.length === 1 ? onlyDriver(conjuncts) : undefined;
  const [arm, ...others] = driver?.arms ?? [];
  if (arm === undefined || others.length > 0 || driver?.isExact !== true) return undefined;
  return arm.index in BY_ENTRY && sizeOfArm(arm) === 1 ? arm : undefined;
}

/**
 * The exact number of resources in an arm, by the index alone: keys are skipped up to a little before the last total, and the rest is
 * listed. Pipelines cannot be bounded by a stretch, and read each document, which takes four times as long; they count where there is no
 * last total, or a wrong one.
 */
async function countArm(scope: Scope, arm: Arm): Promise<number> {
  const { snapshot, probes } = scope.links;
  const last = probes.lastTotal(arm);
  let total: number | undefined;
  for (const listed of last === undefined ? LISTED.slice(-1) : LISTED) {
    const skip = Math.max(0, (last ?? 0) - listed);
    const rest = await lengthOf(snapshot, stretchesOf(arm)[0]!, arm.hint, 2 * listed + 1, skip);
    if (rest > 2 * listed || (rest === 0 && skip > 0)) continue;
    total = skip + rest;
    break;
  }
  total ??= await countDocuments(scope, onlyDriver(scope.conjuncts));
  probes.noteTotal(arm, total);
  return total;
}

/** Reads what indexes find: of several ranges each, without what those before it have. */
async function countDocuments(scope: Scope, best: Driver | undefined, time?: number): Promise<number> {
  const { arms = [], isLazy = false } = best ?? {};
  if (best !== undefined && arms.length === 0) return 0;
  const count = async (filter: Document, hint: Document): Promise<number> => {
    const [row] = await scope.links.snapshot.aggregate('resource', [{ $match: filter }, { $count: 'n' }], hint, time);
    return Number(row?.['n'] ?? 0);
  };
  if (!isLazy) {
    const { filter, hint } = matching(scope, best);
    return count(filter, hint);
  }
  const rest = [...restOf(scope.conjuncts), LIVING];
  const each = arms.map(({ driving, hint }, i) => {
    const before = arms.slice(0, i).map(({ holds }) => holds);
    return count(everyOf([driving, ...rest, ...(before.length === 0 ? [] : [{ $nor: before }])]), hint);
  });
  return (await Promise.all(each)).reduce((sum, n) => sum + n, 0);
}

/** Returns the filter that finds all matches, and the best index for it. */
export async function findingAll(scope: Scope): Promise<{ readonly filter: Document; readonly hint: Document }> {
  return matching(scope, await bestOf(scope));
}

/** Of several ranges each is found by an index, in whatever order. */
function matching({ type, conjuncts }: Scope, best: Driver | undefined): { filter: Document; hint: Document } {
  const { min, max } = typeStretch(type);
  const [arm, ...others] = best?.arms ?? [];
  const all = [{ type }, ...restOf(conjuncts), LIVING];
  if (arm !== undefined && others.every(({ index }) => index === arm.index)) {
    const driving = [arm, ...others].map((each) => each.driving);
    return {
      filter: everyOf([driving.length === 1 ? driving[0]! : { $or: driving }, ...all.slice(1)]),
      hint: arm.hint,
    };
  }
  return { filter: everyOf([{ _id: { $gte: min['_id'] as string, $lt: max['_id'] as string } }, ...all]), hint: { _id: 1 } }; // prettier-ignore
}

/** All of a type, less the deletions, both by an index alone. */
async function countType({ links, type }: Scope): Promise<number> {
  const { snapshot } = links;
  const group = { $count: 'n' };
  const [[all], [deleted]] = await Promise.all([
    snapshot.aggregate('resource', [{ $match: { type } }, group], BY_TYPE_AND_TIME),
    snapshot.aggregate('resource', [{ $match: { type, deleted: true } }, group], DELETED),
  ]);
  return Number(all?.['n'] ?? 0) - Number(deleted?.['n'] ?? 0);
}
