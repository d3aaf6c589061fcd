import { isEverything, type Condition } from '../../../search/query/query.js';
import { conjunctsOf } from '../../plan/conjuncts.js';
import { CHEAP_TOTAL } from '../../store.js';
import { selectDriven, selectOfType } from './by-key.js';
import { hasIrregular } from './compile/between.js';
import { findBest } from './compile/driver.js';
import { rangeOf, restOf, type Driver } from './compile/index-range.js';
import { sql, type Sql } from './compile/sql.js';
import { probe } from './probes.js';
import type { SearchRun } from './run.js';

/** How far rows are counted where the criterion with the fewest is looked for. */
const DEEP = 1_000_000;

/** Matches that are not counted by one range of an index alone are counted up to so many: each costs some of what a page costs. */
const FEW_ASKED = 250;

/** How many resources fulfil a condition. */
export function countAll(run: SearchRun, where: Condition): number {
  return countBy(run, where, findBest(run, conjunctsOf(where), { limit: DEEP }));
}

/** What a cheap count takes into account. */
interface CheapCount {
  /** A total above this is not wanted. */
  readonly most?: number;
  /** What could drive the search, from when its page was looked for. */
  readonly drivers?: readonly Driver[] | undefined;
}

/**
 * Counts the resources that fulfil a condition where that costs no more than a page does. Undefined: the number is not
 * known.
 */
export function countCheaply(
  run: SearchRun,
  where: Condition,
  { most = CHEAP_TOTAL.matches, drivers }: CheapCount = {},
): number | undefined {
  const conjuncts = conjunctsOf(where);
  const few = Math.min(most, FEW_ASKED);
  const [only, ...others] = conjuncts;
  // What may be one range is counted once, as far as the rows of one may be.
  let limit = only !== undefined && others.length === 0 && 'any' in only ? most : few;
  let best = fewest(run, conjuncts, limit, drivers);
  const isPlain = best === undefined ? isEverything(where) : isRange(best) && isEverything(restOf(where, best));
  if (isPlain && best !== undefined && best.count > limit && limit < most) {
    limit = most;
    best = fewest(run, conjuncts, limit, drivers);
  }
  const allowed = isPlain ? most : few;
  if ((best?.count ?? sizeOf(run, allowed)) > allowed) return undefined;
  if (isPlain) return countBy(run, where, best);
  return run.interrupt.within({ time: CHEAP_TOTAL.time }, () => countBy(run, where, best));
}

/** The driver with the fewest rows, counted as far as that is wanted. */
function fewest(
  run: SearchRun,
  conjuncts: readonly Condition[],
  limit: number,
  drivers: readonly Driver[] | undefined,
): Driver | undefined {
  if (drivers === undefined || drivers.some(({ isFar }) => isFar)) return findBest(run, conjuncts, { limit });
  let best: Driver | undefined;
  for (const driver of drivers) {
    const count = probe(run, driver.arms.map(rangeOf), best?.count ?? limit); // prettier-ignore
    if (best === undefined || count < best.count) best = { ...driver, count };
  }
  return best;
}

/** Whether its rows are those of one range, which no others are beside. */
function isRange({ arms, single, isFar }: Driver): boolean {
  return !isFar && (single !== undefined || arms.length === 1);
}

function countBy(run: SearchRun, where: Condition, best: Driver | undefined): number {
  const single = best?.single;
  const isOnce = single !== undefined && isEverything(restOf(where, best!)) && !hasIrregular(run, single.param);
  // An index alone has each match once; nothing stops that statement.
  const keys = isOnce ? sql`SELECT ${single.key} ${single.rows}` : matches(run, where, best);
  return run.column<number>(sql`SELECT count(*) FROM (${keys})`)[0]!;
}

/** How many resources of the type there are, as far as that is asked. */
function sizeOf(run: SearchRun, limit: number): number {
  const all = sql`FROM resource r INDEXED BY resource_by_time WHERE r.type = ${run.type} AND r.deleted = 0`;
  return probe(run, [all], limit);
}

/** The keys of all that match, each once. */
export function allMatches(run: SearchRun, where: Condition): Sql {
  return matches(run, where, findBest(run, conjunctsOf(where), { limit: DEEP }));
}

/** The same, led by what finds them with the fewest rows; undefined: all of the type are looked at. */
function matches(run: SearchRun, where: Condition, best: Driver | undefined): Sql {
  if (best === undefined) return selectOfType(run, where);
  return sql`SELECT DISTINCT key FROM (${selectDriven(run, best, restOf(where, best))})`;
}
