import type { Database } from 'better-sqlite3';

import { FhirError } from '../../../fhir/errors.js';
import { tooCostly } from './too-costly.js';

/** Thrown where a limit of `within` is met. */
const ENOUGH = new Error('enough');

/**
 * Of so many rows one calls the function, by the remainder of its key: a call costs ten times as much as asking that. Keys
 * are often spaced by powers of two, so it is none.
 */
const SAMPLE = 61;

/** So many rows of one key one after the other stand for others of other keys too; further ones for themselves alone. */
const RUN = 8;

/** Rows that checks look at between two looks at the clock, which costs as much as one of them; one may take a millisecond. */
const STRIDE = 8;

/** So many times its budget nothing may take, however little it has done. */
const PATIENCE = 4;

/**
 * Stops a query from inside: SQLite cannot be interrupted while it works, but a function that it calls for each row may
 * throw.
 */
export interface QueryInterrupt {
  /** A condition that is always true, for the leaf that drives a query; `column` is one of its, with whole numbers. */
  sql(column: string): string;
  /** The same for rows that checks look at: it counts them, for the explanation of a query. */
  look(column: string): string;
  /** Says that work is done that SQLite does not see, as much as that many rows. @throws where the query is stopped */
  step(rows?: number): void;
  /** How many rows have driven queries, about, and how many have been looked at, since the beginning. */
  readonly counts: { readonly driven: number; readonly looked: number };
  /**
   * Does something that may be driven by so many rows more, and go on for so many milliseconds.
   *
   * @returns undefined where that did not suffice
   */
  within<T>(limits: { readonly rows?: number; readonly time?: number }, action: () => T): T | undefined;
  /**
   * From here on there are `budget` milliseconds, and `id` is what may be stopped.
   *
   * @param work rows before which the time alone ends nothing, unless it is over four times
   * @param away milliseconds since then in which others had the processor: they do not count
   * @throws where it is stopped already
   */
  begin(id: number, budget: number, work?: number, away?: () => number): void;
}

/** @param stop its only number is the id of the request that is not wanted any more; shared with the main thread */
export function openQueryInterrupt(db: Database, stop: Int32Array): QueryInterrupt {
  let steps = 0;
  let driven = 0;
  let looked = 0;
  let rowLimit = Infinity;
  let timeLimit = Infinity;
  let current = 0;
  let deadline = Infinity;
  let last = Infinity;
  let worked = 0;
  let wasAway = (): number => 0;
  let lastKey: unknown;
  let repeats = 0;
  function look(now: number): void {
    if (Atomics.load(stop, 0) === current) throw new FhirError('store-busy', 'The query was stopped');
    if (isOver(now) && isOver(now - wasAway())) throw tooCostly();
  }
  const isOver = (now: number): boolean => now > last || (now > deadline && steps >= worked);
  /** It looks each time: what calls it takes longer than that. */
  function step(rows = 1): void {
    steps += rows;
    const now = performance.now();
    look(now);
    if (now > timeLimit) throw ENOUGH;
  }
  // It gets a column, so that it is asked for the row, not once before.
  db.function('kiln_go_on', { deterministic: false }, (key: unknown) => {
    repeats = key === lastKey ? repeats + 1 : 0;
    lastKey = key;
    // A resource that has very many values in the index would pass for as many times as many.
    const rows = repeats < RUN ? SAMPLE : 1;
    driven += rows;
    if (driven > rowLimit) throw ENOUGH;
    step(rows);
    return 1;
  });
  db.function('kiln_look', { deterministic: false }, (_column: unknown) => {
    looked++;
    if (looked % STRIDE === 0) step(STRIDE);
    return 1;
  });
  return {
    sql: (column) => `(${column} % ${SAMPLE} <> 0 OR kiln_go_on(${column}))`,
    look: (column) => `kiln_look(${column})`,
    step,
    get counts() {
      return { driven, looked };
    },
    within({ rows = Infinity, time = Infinity }, action) {
      rowLimit = driven + rows;
      timeLimit = performance.now() + time;
      try {
        return action();
      } catch (error) {
        if (error === ENOUGH) return undefined;
        throw error;
      } finally {
        rowLimit = Infinity;
        timeLimit = Infinity;
      }
    },
    begin(id, budget, work = 0, away = () => 0) {
      current = id;
      wasAway = away;
      const now = performance.now();
      deadline = now + budget;
      last = now + PATIENCE * budget;
      worked = steps + work;
      look(now);
    },
  };
}
