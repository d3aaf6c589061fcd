import { keyOf, sql, type Sql } from './compile/sql.js';
import type { SearchRun } from './run.js';

/**
 * How many rows these ranges have, up to one more than the limit. What is counted are index entries, so a probe costs no
 * more than that; between two ranges the search may be stopped.
 */
export function probe(run: SearchRun, ranges: readonly Sql[], limit: number): number {
  let count = 0;
  for (const range of ranges) {
    if (count > limit) return count;
    run.interrupt.step(0);
    count += rowsIn(run, range, limit + 1 - count);
  }
  return count;
}

/** How long a count holds, in milliseconds, and how many are kept. */
const LIFETIME = 5000;
const MOST = 2000;

/** Longer conditions are counted each time. */
const LONGEST_KEY = 4000;

/** As many as are asked for, or fewer. */
function rowsIn({ probes, statements }: SearchRun, range: Sql, most: number): number {
  // The numbers of lists are given anew to each search; a list itself hardly comes again.
  const isKept = !range.text.includes('kiln_list') && !range.text.includes('json_each');
  const key = isKept ? `${range.text} ${keyOf(range.values)}` : '';
  const now = performance.now();
  const known = isKept ? probes.get(key) : undefined;
  if (known !== undefined && known.until > now && (known.count < known.most || known.most >= most))
    return Math.min(known.count, most);
  const { text, values } = sql`SELECT count(*) AS n FROM (SELECT 1 ${range} LIMIT ${most})`;
  const count = statements<readonly [number]>(text).get(...values)![0];
  if (isKept && key.length <= LONGEST_KEY) {
    if (probes.size >= MOST) probes.clear();
    probes.set(key, { count, most, until: now + LIFETIME });
  }
  return count;
}
