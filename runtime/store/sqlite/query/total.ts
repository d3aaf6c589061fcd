import { isEverything, type Condition } from '../../../search/query/query.js';
import { CHEAP_TOTAL } from '../../store.js';
import { inBatches } from './by-key.js';
import type { Driver } from './compile/index-range.js';
import { conjunctsOf, residualOf } from './compile/residual.js';
import { singleRange } from './first-of-single.js';
import { probe } from './probes.js';
import { findBestLed } from './links/resolve.js';
import type { Run } from './run.js';
import { join, keyOf, raw, sql, type Sql } from './compile/sql.js';

/**
 * How many resources fulfil a condition. Undefined: a cheap total was asked for, and it would not be one.
 *
 * @param best what finds them with the fewest rows, if that is known
 * @param cheap what is left of a cheap total, where there are others of it
 */
export function countMatches(
  run: Run,
  where: Condition,
  best: Driver | undefined,
  cheap = CHEAP_TOTAL,
): number | undefined {
  const single = best === undefined ? undefined : matchesOnce(run, where, best);
  if (run.query.total !== 'cheap') {
    const { deep } = run.limits;
    const some = single && known(run, single, () => countUpTo(run, single, deep));
    if (some !== undefined) return some;
    const all = best === undefined ? allMatches(run, where) : matches(run, where, best);
    return known(run, all, () => count(run, all));
  }
  const keys = single ?? matches(run, where, best);
  const total = known(run, keys, () => countCheaply(run, keys, best, cheap));
  return total === undefined || total > cheap.matches ? undefined : total;
}

/** How many keys there are, if they were counted before and nothing was written since; else as they are `counted` now. */
function known(run: Run, keys: Sql, counted: () => number | undefined): number | undefined {
  // The numbers of lists are given anew to each search, and an explanation is to see what a search does.
  if (run.trace !== undefined || keys.text.includes('kiln_list')) return counted();
  const name = keyOf(['total', keys.text, ...keys.values]);
  const before = run.orders.get(name)?.total;
  if (before !== undefined) return before;
  const total = counted();
  if (total !== undefined) run.orders.keep(name, { hits: [], isEnd: true, total });
  return total;
}

/** The same where it is cheap; undefined: there are more, or they took too long. */
function countCheaply(
  run: Run,
  keys: Sql,
  best: Driver | undefined,
  cheap: { readonly matches: number; readonly time: number },
): number | undefined {
  const cacheKey = keyOf(['costly', cheap.matches, keys.text, ...keys.values]);
  // The numbers of lists are given anew to each search.
  const isKept = !keys.text.includes('kiln_list');
  if (isKept && run.probes.get(cacheKey) !== undefined) return undefined;
  const time = isShort(run, best) ? Infinity : cheap.time;
  let isInTime = false;
  const some = run.interrupt.within({ time }, () => {
    const counted = countUpTo(run, keys, cheap.matches);
    isInTime = true;
    return counted;
  });
  // Who asks the same again need not wait for that; what took less than the whole time may not take it the next time.
  if (some === undefined && isKept && (isInTime || cheap === CHEAP_TOTAL)) run.probes.set(cacheKey, 1);
  return some;
}

/** Whether there are few rows to be looked at, so that no time need be kept. */
function isShort(run: Run, best: Driver | undefined): boolean {
  if (best !== undefined && best.count <= CHEAP_TOTAL.matches) return true;
  const all = sql`FROM resource r INDEXED BY resource_by_time WHERE r.type = ${run.type} AND r.deleted = 0`;
  return probe(run, [all], CHEAP_TOTAL.matches) <= CHEAP_TOTAL.matches;
}

/** How many keys there are; undefined: more than so many. */
function countUpTo(run: Run, keys: Sql, most: number): number | undefined {
  const some = count(run, sql`${keys} LIMIT ${most + 1}`);
  return some > most ? undefined : some;
}

function count(run: Run, keys: Sql): number {
  for (const { n } of run.rows<{ readonly n: number }>(sql`SELECT count(*) AS n FROM (${keys})`)) return n;
  return 0;
}

/** The keys of all that match, each once. */
export function allMatches(run: Run, where: Condition): Sql {
  return matches(run, where, findBestLed(run, conjunctsOf(where), run.limits.deep));
}

/** The same by an index alone, where each match is there once; nothing stops that statement. Undefined: it is not so simple. */
function matchesOnce(run: Run, where: Condition, best: Driver): Sql | undefined {
  if (!isEverything(residualOf(conjunctsOf(where), best))) return undefined;
  const single = singleRange(run, best);
  return single && sql`SELECT ${single.key} ${single.rows}`;
}

/** The same, led by what finds them with the fewest rows; undefined: all of the type are looked at. */
function matches(run: Run, where: Condition, best: Driver | undefined): Sql {
  if (best?.arms.length === 0) return sql`SELECT 0 WHERE 0`;
  const rest = best === undefined ? where : residualOf(conjunctsOf(where), best);
  const pieces = (best?.arms ?? []).map(
    ({ key, rows }) => sql`SELECT DISTINCT ${key} ${rows} AND ${run.check(rest, key)}`,
  );
  const [batch, ...more] = inBatches(pieces);
  if (batch !== undefined && more.length === 0) return join(batch, ' UNION ');
  const key = raw('r.key');
  return sql`SELECT r.key FROM resource r INDEXED BY resource_by_time
    WHERE r.type = ${run.type} AND r.deleted = 0 AND ${run.go(key)} AND ${run.check(where, key)}`;
}
