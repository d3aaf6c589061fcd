import { FhirError } from '../../../../fhir/errors.js';
import type { Condition, Leaf } from '../../../../search/query/query.js';
import { conjunctsOf, isLink } from '../../../plan/conjuncts.js';
import { throughLink } from '../links/through.js';
import { probe } from '../probes.js';
import type { SearchRun } from '../run.js';
import { findBetween } from './between.js';
import { rangeOf, stepOf, type Arm, type Choice, type Driver } from './index-range.js';
import type { LeafGroup } from './leaf.js';
import { armsOf, singleOf } from './ranges.js';
import { TABLES } from './shape.js';
import { and, or, sql } from './sql.js';

/** More alternatives than this are not gone through one after the other. */
const MOST_ARMS = 16;

/**
 * The ranges by which a condition is found with the fewest rows. Undefined: by none, all resources have to be looked at.
 *
 * @param depth how many links lead to what it is a condition on
 */
export function findDriver(run: SearchRun, condition: Condition, choice: Choice, depth = 0): Driver | undefined {
  if ('not' in condition) return undefined;
  if ('all' in condition) {
    const best = findBest(run, condition.all, choice, depth);
    const isExact = condition.all.length === 1 && best?.isExact === true;
    return best === undefined ? undefined : { ...best, condition, isExact };
  }
  if ('some' in condition) {
    const drivers = condition.some.map((each, i) => findDriver(run, each, stepOf(choice, i), depth));
    return drivers.every((driver) => driver !== undefined) ? united(condition, drivers) : undefined;
  }
  return isLink(condition)
    ? throughLink(run, condition, choice, depth, findBest)
    : findLeaf(run, condition, choice, depth);
}

/** What is found in one or the other. */
function united(condition: Condition, drivers: readonly Driver[]): Driver {
  const count = drivers.reduce((sum, { arms }) => sum + arms.length, 0);
  const isLazy = count <= MOST_ARMS && drivers.every((driver) => driver.isLazy);
  const arms: Arm[] = [];
  for (const driver of drivers) {
    const before = isLazy ? [...arms] : [];
    for (const arm of driver.arms) arms.push(apartFrom(before, arm));
  }
  return {
    condition,
    arms,
    path: drivers.map(({ path }) => path),
    count: drivers.reduce((sum, driver) => sum + driver.count, 0),
    isExact: drivers.every(({ isExact }) => isExact),
    isLazy,
    isFar: drivers.some(({ isFar }) => isFar),
    repeats: drivers.some(({ repeats }) => repeats),
  };
}

/** An arm without what is in those before it. */
function apartFrom(before: readonly Arm[], arm: Arm): Arm {
  if (before.length === 0) return arm;
  return { ...arm, once: () => and([arm.once(), sql`NOT ${or(before.map(({ holds }) => holds(arm.key)))}`]) };
}

function findLeaf(run: SearchRun, condition: Leaf, choice: Choice, depth: number): Driver | undefined {
  const groups = run.groups(condition);
  if (groups.some(({ isListed }) => !isListed)) return undefined;
  const ways = groups.map((group, i) => cheapest(run, condition, group, stepOf(choice, i), depth));
  const [only, ...others] = ways;
  return { ...united(condition, ways), ...(others.length === 0 && only?.single && { single: only.single }) };
}

/** Few enough that nothing can be gained by counting more. */
export const FEW = 20;

/** The driver of the conjunct that has the fewest rows. */
export function findBest(
  run: SearchRun,
  conditions: readonly Condition[],
  choice: Choice,
  depth = 0,
): Driver | undefined {
  let best: Driver | undefined;
  for (const driver of findDrivers(run, conditions, choice, depth)) {
    if (best === undefined || driver.count < best.count) best = driver;
  }
  return best;
}

/** Whatever finds one of the conditions, or several together, as far as it may be better than those before. */
export function* findDrivers(
  run: SearchRun,
  conditions: readonly Condition[],
  choice: Choice,
  depth = 0,
): Generator<Driver> {
  if (choice.path !== undefined) return yield findAgain(run, conditions, choice, depth);
  let { limit } = choice;
  const covered = new Set<Condition>();
  for (const { isWhole, ...driver } of findBetween(run, conditions, limit, depth)) {
    run.trace?.probed(driver.condition, driver.count, limit);
    const together = conjunctsOf(driver.condition);
    yield { ...driver, path: [together.map((each) => conditions.indexOf(each)), 'between'] };
    if (driver.count <= FEW) return;
    limit = Math.min(limit, driver.count);
    // Each by itself has at least as many.
    if (isWhole) for (const each of together) covered.add(each);
  }
  // What leads through other resources is the last to be counted.
  const left = conditions.filter((each) => !covered.has(each));
  for (const condition of [...left.filter((each) => !isLink(each)), ...left.filter((each) => isLink(each))]) {
    const driver = findDriver(run, condition, { limit }, depth);
    if (driver === undefined) continue;
    if ('param' in condition || 'has' in condition || 'updated' in condition || 'ids' in condition) {
      run.trace?.probed(condition, driver.count, limit);
    }
    yield { ...driver, path: [[conditions.indexOf(condition)], driver.path] };
    if (driver.count <= FEW) return;
    // What has more than another need not be counted further.
    limit = Math.min(limit, driver.count);
  }
}

/** The driver of a page before. */
function findAgain(run: SearchRun, conditions: readonly Condition[], choice: Choice, depth: number): Driver {
  const { path: places } = stepOf(choice, 0);
  const how = stepOf(choice, 1);
  const chosen = (Array.isArray(places) ? places : []).map((place) => conditions[Number(place)]);
  const [condition] = chosen;
  const driver =
    condition === undefined || chosen.includes(undefined)
      ? undefined
      : how.path === 'between'
        ? findBetween(run, chosen as readonly Condition[], undefined, depth)[0]
        : findDriver(run, condition, how, depth);
  if (driver === undefined) throw new FhirError('page-invalid');
  return { ...driver, path: choice.path! };
}

/** Of a composite by the part, of an interval by the end that has the fewest rows. */
function cheapest(run: SearchRun, condition: Leaf, group: LeafGroup, { limit, path }: Choice, depth: number): Driver {
  let best: Driver | undefined;
  let place = 0;
  for (const [part, { accesses, table }] of group.shapes.entries()) {
    for (const access of accesses) {
      const own = place++;
      if (path !== undefined && own !== path) continue;
      const parts = access.beside === undefined ? [access] : [access, access.beside];
      const all = parts.flatMap((each) => armsOf(run, group, part, each, depth));
      const arms = all.map((arm, i) => apartFrom(all.slice(0, i), arm));
      const count = path === undefined ? probe(run, arms.map(rangeOf), limit) : 0; // prettier-ignore
      if (best !== undefined && count >= best.count) continue;
      const isLazy = arms.every((arm) => arm.isLazy);
      const single = singleOf(group, access);
      best = {
        condition,
        arms,
        path: own,
        count,
        isExact: true,
        isLazy,
        isFar: false,
        repeats: table === TABLES.region,
      };
      if (single !== undefined) best = { ...best, single };
    }
  }
  return best ?? { ...NOTHING, condition };
}

/** No row of a range. */
const NOTHING = { arms: [], path: -1, count: 0, isExact: true, isLazy: true, isFar: false, repeats: false };

/** The systems that a code has under a parameter. */
export function systemsOf(run: SearchRun, param: number, code: string): readonly number[] {
  const next = run.statements<readonly [number]>(
    `SELECT system FROM token INDEXED BY token_by_value
     WHERE param = ? AND part_group >= 0 AND code = ? AND system > ? ORDER BY system LIMIT 1`,
  );
  const systems: number[] = [];
  for (let row = next.get(param, code, -1); row !== undefined;) {
    systems.push(row[0]);
    row = next.get(param, code, row[0]);
  }
  return systems;
}
