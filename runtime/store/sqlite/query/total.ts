import { isEverything, type Condition } from '../../../search/query/query.js';
import { conjunctsOf } from '../../plan/conjuncts.js';
import { CHEAP_TOTAL } from '../../store.js';
import { inBatches } from './by-key.js';
import { findBest, onlyDriver } from './compile/driver.js';
import { rangeOf, restOf, rowsOf, type Driver, type Single } from './compile/index-range.js';
import { join, raw, sql, type Sql } from './compile/sql.js';
import { probe } from './probes.js';
import type { Run } from './run.js';

/** How far rows are counted where the criterion with the fewest is looked for. */
const DEEP = 1_000_000;

/** Matches that are not counted by one range of an index alone are counted up to so many: each costs some of what a page costs. */
const FEW_ASKED = 250;

/** How many resources fulfil a condition. */
export function countAll(run: Run, where: Condition): number {
  const conjuncts = conjunctsOf(where);
  return countBy(run, where, onlyDriver(run, conjuncts) ?? findBest(run, conjuncts, { limit: DEEP }));
}

/** What a cheap count takes into account. */
interface CheapCount {
  /** A total above this is not wanted. */
  readonly most?: number;
  /** What could drive the search, from when its page was looked for. */
  readonly drivers?: readonly Driver[] | undefined;
}

/** The same where that costs no more than a page does. Undefined: it is not known. */
export function countCheaply(
  run: Run,
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
  run: Run,
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

function countBy(run: Run, where: Condition, best: Driver | undefined): number {
  const single = best === undefined ? undefined : matchesOnce(run, where, best);
  return count(run, single ?? matches(run, where, best));
}

/** How many resources of the type there are, as far as that is asked. */
function sizeOf(run: Run, limit: number): number {
  const all = sql`FROM resource r INDEXED BY resource_by_time WHERE r.type = ${run.type} AND r.deleted = 0`;
  return probe(run, [all], limit);
}

function count(run: Run, keys: Sql): number {
  for (const { n } of run.rows<{ readonly n: number }>(sql`SELECT count(*) AS n FROM (${keys})`)) return n;
  return 0;
}

/** The keys of all that match, each once. */
export function allMatches(run: Run, where: Condition): Sql {
  return matches(run, where, findBest(run, conjunctsOf(where), { limit: DEEP }));
}

/** The same by an index alone, where each match is there once; nothing stops that statement. Undefined: it is not so simple. */
function matchesOnce(run: Run, where: Condition, best: Driver): Sql | undefined {
  if (!isEverything(restOf(where, best))) return undefined;
  const single = singleRange(run, best);
  return single && sql`SELECT ${single.key} ${single.rows}`;
}

/** The same, led by what finds them with the fewest rows; undefined: all of the type are looked at. */
function matches(run: Run, where: Condition, best: Driver | undefined): Sql {
  if (best?.arms.length === 0) return sql`SELECT 0 WHERE 0`;
  const rest = best === undefined ? where : restOf(where, best);
  const pieces = (best?.arms ?? []).map(
    (arm) => sql`SELECT DISTINCT ${arm.key} ${rowsOf(arm)} AND ${run.check(rest, arm.key)}`,
  );
  const [batch, ...more] = inBatches(pieces);
  if (batch !== undefined && more.length === 0) return join(batch, ' UNION ');
  const key = raw('r.key');
  return sql`SELECT r.key FROM resource r INDEXED BY resource_by_time
    WHERE r.type = ${run.type} AND r.deleted = 0 AND ${run.go(key)} AND ${run.check(where, key)}`;
}

/** The range in which each match of a driver is once; undefined: a resource may be there twice. */
function singleRange(run: Run, { single }: Driver): Single | undefined {
  if (single === undefined) return undefined;
  const irregular = sql`SELECT 1 FROM irregular INDEXED BY irregular_by_param WHERE param = ${single.param} LIMIT 1`;
  return run.column(irregular).length > 0 ? undefined : single;
}
