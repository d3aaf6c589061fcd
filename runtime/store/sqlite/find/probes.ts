import type { Run } from './run.js';
import { sql, type Sql } from './sql.js';

/** Counts that were made a moment ago. */
export interface ProbeCache {
  get(key: string): number | undefined;
  set(key: string, count: number): void;
}

/** How long a count holds, in milliseconds, and how many are kept. */
const LIFETIME = 5000;
const MOST = 2000;

/** Longer conditions are counted each time. */
const LONGEST_KEY = 4000;

/** A cache that is empty. */
export function openProbeCache(now: () => number = () => performance.now()): ProbeCache {
  const kept = new Map<string, { readonly count: number; readonly until: number }>();
  return {
    get(key) {
      const found = kept.get(key);
      return found !== undefined && found.until > now() ? found.count : undefined;
    },
    set(key, count) {
      if (key.length > LONGEST_KEY) return;
      if (kept.size >= MOST) kept.clear();
      kept.set(key, { count, until: now() + LIFETIME });
    },
  };
}

/**
 * How many rows these ranges have, up to one more than the limit. What is counted are index entries, so a probe costs no
 * more than that.
 */
export function probe(run: Run, ranges: readonly Sql[], limit: number): number {
  let count = 0;
  for (const range of ranges) {
    if (count > limit) return count;
    const { text, values } = sql`SELECT count(*) AS n FROM (SELECT 1 ${range} LIMIT ${limit + 1 - count})`;
    const key = JSON.stringify([text, values]);
    // The numbers of lists are given anew to each search.
    const isKept = !text.includes('kiln_list');
    const found =
      (isKept ? run.probes.get(key) : undefined) ??
      run.statements.prepare<{ readonly n: number }>(text).get(...values)!.n;
    if (isKept) run.probes.set(key, found);
    count += found;
  }
  return count;
}
