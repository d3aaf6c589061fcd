import type { Condition } from '../../../search/query/query.js';
import { CHEAP_TOTAL } from '../../store.js';
import type { Driver } from './driver.js';
import type { Run } from './run.js';
import { join, raw, sql, type Sql } from './sql.js';
import { leftOf } from './strategy.js';

/** How long a total of few matches may take to be cheap still, in milliseconds: they may lie far apart. */
const MOST_TIME = 500;

/** Driven by more ranges than this, a total goes through all resources. */
const MAX_ARMS = 100;

/**
 * How many resources fulfil a condition. Undefined: a cheap total was asked for, and it would not be one.
 *
 * @param best what finds them with the fewest rows, if that is known
 */
export function countMatches(run: Run, where: Condition, best: Driver | undefined): number | undefined {
  const keys = matches(run, where, best);
  const isCheap = run.query.total === 'cheap';
  if (!isCheap) return count(run, keys);
  const { text, values } = keys;
  const cacheKey = `costly ${JSON.stringify([text, values])}`;
  if (run.probes.get(cacheKey) !== undefined) return undefined;
  const begun = performance.now();
  const { matches: few, time } = CHEAP_TOTAL;
  const some = run.guard.within({ time: MOST_TIME }, () => count(run, sql`${keys} LIMIT ${few + 1}`));
  if (some !== undefined && some <= few) return some;
  const left = time - (performance.now() - begun);
  const all = some === undefined || left <= 0 ? undefined : run.guard.within({ time: left }, () => count(run, keys));
  // Who asks the same again need not wait for that.
  if (all === undefined) run.probes.set(cacheKey, 1);
  return all;
}

function count(run: Run, keys: Sql): number {
  for (const { n } of run.rows<{ readonly n: number }>(sql`SELECT count(*) AS n FROM (${keys})`)) return n;
  return 0;
}

/** The keys of all that match, each once. */
function matches(run: Run, where: Condition, best: Driver | undefined): Sql {
  if (best === undefined || best.arms.length > MAX_ARMS) {
    const key = raw('r.key');
    return sql`SELECT r.key FROM resource r INDEXED BY resource_by_time
      WHERE r.type = ${run.type} AND r.deleted = 0 AND ${run.go(key)} AND ${run.check(where, key)}`;
  }
  if (best.arms.length === 0) return sql`SELECT 0 WHERE 0`;
  const rest = leftOf('all' in where ? where.all : [where], best);
  const pieces = best.arms.map(({ key, rows }) => sql`${key} AS key ${rows} AND ${run.check(rest, key)}`);
  if (pieces.length === 1) return sql`SELECT DISTINCT ${pieces[0]!}`;
  return join(pieces.map((piece) => sql`SELECT ${piece}`), ' UNION '); // prettier-ignore
}
