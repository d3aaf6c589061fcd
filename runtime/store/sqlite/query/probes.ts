import type { Run } from './run.js';
import { keyOf, sql, type Sql } from './compile/sql.js';

/**
 * How many rows these ranges have, up to one more than the limit. What is counted are index entries, so a probe costs no
 * more than that; between two ranges the search may be stopped.
 */
export function probe(run: Run, ranges: readonly Sql[], limit: number): number {
  let count = 0;
  for (const range of ranges) {
    if (count > limit) return count;
    run.interrupt.step(0);
    const { text, values } = sql`SELECT count(*) AS n FROM (SELECT 1 ${range} LIMIT ${limit + 1 - count})`;
    // The numbers of lists are given anew to each search; a list itself hardly comes again.
    const isKept = !text.includes('kiln_list') && !text.includes('json_each');
    const key = isKept ? keyOf([text, ...values]) : '';
    const found =
      (isKept ? run.probes.get(key) : undefined) ??
      run.statements.prepare<{ readonly n: number }>(text).get(...values)!.n;
    if (isKept) run.probes.set(key, found);
    count += found;
  }
  return count;
}
