import type { Database } from 'better-sqlite3';

import type { Precondition } from '../../store.js';
import type { Dictionary } from './dictionary.js';
import { openFindParts } from '../query/find.js';
import { beginRun } from '../query/run.js';
import { simplify } from '../query/compile/simplify.js';
import { findHits } from '../query/search.js';
import { openQueryInterrupt } from '../file/query-interrupt.js';

/**
 * The place of a precondition whose search finds something else, as the connection sees it now; undefined: there is none. Inside a write
 * transaction, before the changes.
 *
 * @throws FhirError `too-costly` where all searches together take longer than the budget
 */
export type PreconditionCheck = (preconditions: readonly Precondition[]) => number | undefined;

/** Searches of the writer's own connection, for which nothing is prepared before the first precondition. @param budget in milliseconds */
export function openPreconditionCheck(db: Database, dictionary: Dictionary, budget: number): PreconditionCheck {
  let check: PreconditionCheck | undefined;
  return (preconditions) =>
    preconditions.length === 0 ? undefined : (check ??= prepare(db, dictionary, budget))(preconditions);
}

/** Only the clock stops these searches. */
const UNSTOPPED = 0;
const STEP = 1;

function prepare(db: Database, dictionary: Dictionary, budget: number): PreconditionCheck {
  const stopper = openQueryInterrupt(db, Int32Array.of(UNSTOPPED));
  const parts = openFindParts(db, dictionary, stopper);
  const selectId = db.prepare<[number], string>('SELECT id FROM resource WHERE key = ?').pluck();

  /** One more than there may be is enough to know. */
  function holds({ type, where, found }: Precondition): boolean {
    const expected = new Set(found);
    const count = expected.size + 1;
    const run = beginRun(parts, { type, where, sort: [], count, total: 'none' });
    if (run === undefined) return expected.size === 0;
    try {
      const { hits } = findHits(run, simplify(where), undefined, count);
      return hits.length === expected.size && hits.every(({ key }) => expected.has(selectId.get(key)!));
    } finally {
      parts.lists.clear();
      parts.met.clear();
    }
  }

  return (preconditions) => {
    stopper.begin(STEP, budget);
    const broken = preconditions.findIndex((precondition) => !holds(precondition));
    return broken < 0 ? undefined : broken;
  };
}
