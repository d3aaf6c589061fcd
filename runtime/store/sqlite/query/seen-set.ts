import type { Database } from 'better-sqlite3';

import type { QueryInterrupt } from '../file/query-interrupt.js';
import { sql, type Sql } from './compile/sql.js';

/** The resources that walks have met, as long as the query runs that walks. */
export interface SeenSet {
  /** @returns a condition of one walk: true of each resource once; `key` is the column that has its key */
  isFirst(key: Sql): Sql;
  clear(): void;
}

/** Opens the function `kiln_first(number of a walk, key)`. */
export function openSeenSet(db: Database, interrupt: QueryInterrupt): SeenSet {
  let walks: Set<unknown>[] = [];
  db.function('kiln_first', { deterministic: false }, (walk: unknown, key: unknown) => {
    interrupt.step();
    const met = walks[Number(walk)]!;
    if (met.has(key)) return 0;
    met.add(key);
    return 1;
  });
  return {
    isFirst: (key) => sql`kiln_first(${walks.push(new Set()) - 1}, ${key})`,
    clear: () => void (walks = []),
  };
}
