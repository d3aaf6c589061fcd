import type { Document } from 'mongodb';

import { CHEAP_TOTAL } from '../../store.js';
import { BY_ENTRY, BY_TYPE_AND_TIME, DELETED } from '../indexes.js';
import { everyOf, LIVING, restOf } from './compile/compile.js';
import { fewestRows, findDrivers, onlyDriver, type Driver } from './drivers.js';
import { hasLinks } from './plan/plan.js';
import { allAccess, sizeOfArm, keyRangesOf, type Arm } from './plan/access.js';
import { lengthOf } from './plan/probe.js';
import { collectKeys } from './links/collect.js';
import { resolve } from './links/resolve.js';
import { openScope, type Scope } from './scope.js';
import { allOf, KEYS, throughArms, throughType } from './walks.js';

/** How far rows are counted where the condition with the fewest is looked for. */
const DEEP = [1000, 10_000, 100_000, 1_000_000];

/** Matches that are not counted by one range of an index alone are counted up to so many: each costs some of what a page costs. */
const FEW_ASKED = 250;

/** Keys of one range that are listed to count them exactly: to read the documents takes four times as long. */
const LISTED = 2000;

/** Counts the resources that match. */
export async function countAll(scope: Scope): Promise<number> {
  const { links, conjuncts } = scope;
  if (scope.isLinked) return countLinked(scope);
  if (conjuncts.length === 0) return countType(scope);
  const arm = exactArm(scope);
  const count =
    arm === undefined ? Infinity : await lengthOf(links.snapshot, keyRangesOf(arm)[0]!, arm.hint, LISTED + 1);
  return count <= LISTED ? count : countDocuments(scope, await bestOf(scope));
}

/** Where other sides of links are some thousands they are collected: each resource is asked then whether it refers to one. */
async function countLinked({ links, type, plan, limits }: Scope): Promise<number> {
  const resolved = await resolve(links, type, plan, limits.few * limits.more);
  const own = openScope(links, type, resolved);
  if (!hasLinks(resolved)) return countAll(own);
  const best = await bestOf(own);
  const all = await (best === undefined
    ? allOf(own, throughType(own, KEYS))
    : allOf(own, throughArms(own, best, KEYS)));
  return all?.length ?? 0;
}

/** Counts them where that costs no more than a page does; undefined: it is not known. @param most a total above this is not wanted */
export async function countCheaply(scope: Scope, most: number = CHEAP_TOTAL.matches): Promise<number | undefined> {
  const { links, conjuncts, type } = scope;
  const { snapshot, probes } = links;
  if (most < 0) return undefined;
  if (conjuncts.length === 0) {
    const size = await probes.count(snapshot, allAccess(type).arms, most);
    return size > most ? undefined : countType(scope);
  }
  const arm = scope.isLinked ? undefined : exactArm(scope);
  if (arm !== undefined) {
    // That there are more is known for some seconds; how many there are has to be right.
    if (probes.isMore([arm], most)) return undefined;
    const count = await lengthOf(snapshot, keyRangesOf(arm)[0]!, arm.hint, most + 1);
    probes.note([arm], count, most);
    return count > most ? undefined : count;
  }
  return (await collectKeys(links, type, scope.plan, Math.min(most, FEW_ASKED)))?.length;
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

/** Reads what indexes find: of several ranges each, without what those before it have. */
async function countDocuments(scope: Scope, best: Driver | undefined): Promise<number> {
  const { arms = [], isLazy = false } = best ?? {};
  if (best !== undefined && arms.length === 0) return 0;
  const count = async (filter: Document, hint: Document): Promise<number> => {
    const [row] = await scope.links.snapshot.aggregate('resource', [{ $match: filter }, { $count: 'n' }], hint);
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
  const [arm, ...others] = best?.arms ?? [];
  const all = [{ type }, ...restOf(conjuncts), LIVING];
  if (arm !== undefined && others.every(({ index }) => index === arm.index)) {
    const driving = [arm, ...others].map((each) => each.driving);
    return {
      filter: everyOf([driving.length === 1 ? driving[0]! : { $or: driving }, ...all.slice(1)]),
      hint: arm.hint,
    };
  }
  const [every] = allAccess(type).arms;
  return { filter: everyOf([every!.driving, ...all]), hint: every!.hint };
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
