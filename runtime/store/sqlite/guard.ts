import type { Database } from 'better-sqlite3';

import { FhirError } from '../../fhir/errors.js';
import { tooCostly } from './too-costly.js';

/** Rows between two looks at the clock. */
const STRIDE = 256;

/**
 * Stops a query from inside: SQLite cannot be interrupted while it works, but a function that it calls for each row may
 * throw.
 */
export interface Guard {
  /** A condition that is always true, for the leaf that drives a query; `column` is one of its. */
  sql(column: string): string;
  /** From here on there are `budget` milliseconds, and `id` is what may be stopped. @throws where it is stopped already */
  begin(id: number, budget: number): void;
}

/** @param stop its only number is the id of the request that nobody wants any more; shared with the main thread */
export function openGuard(db: Database, stop: Int32Array): Guard {
  let calls = 0;
  let current = 0;
  let deadline = Infinity;
  function look(): void {
    if (Atomics.load(stop, 0) === current) throw new FhirError('store-busy', 'The query was stopped');
    if (performance.now() > deadline) throw tooCostly();
  }
  // It gets a column, so that it is asked for each row, not once before.
  db.function('kiln_go_on', { deterministic: false }, (_column: unknown) => {
    if (++calls % STRIDE === 0) look();
    return 1;
  });
  return {
    sql: (column) => `kiln_go_on(${column})`,
    begin(id, budget) {
      current = id;
      deadline = performance.now() + budget;
      look();
    },
  };
}
