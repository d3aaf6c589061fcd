import { storeBusy, tooCostly } from '../mongo-errors.js';
import type { QueryLimits, Snapshot, Snapshots } from '../snapshot.js';
import { openTurns, type Turns } from './turns.js';

/** Commands that one search has under way at a time: a page and its total. */
const COMMANDS = 2;

/** Half of the connections are left to all others. */
const SHARE = 2;

/** The turns of searches. */
export type SearchTurns = Turns;

/** @param poolSize connections of this process */
export function openSearchTurns(poolSize: number): SearchTurns {
  return openTurns(Math.max(1, Math.floor(poolSize / SHARE / COMMANDS)));
}

/**
 * Runs a search when it is its turn; the time it waits is part of its budget. Before its turn nothing is made of it: what is made
 * of a large search takes the process as much time as the database.
 */
export async function runSearch<T>(
  snapshots: Snapshots,
  turns: SearchTurns,
  { budget, signal }: QueryLimits,
  work: (snapshot: Snapshot) => Promise<T>,
): Promise<T> {
  const deadline = performance.now() + budget;
  const end = await turns.begin(budget, storeBusy, signal);
  let isOver = false;
  try {
    const rest = deadline - performance.now();
    return await snapshots.run({ budget: rest, signal, late: tooCostly }, (snapshot) =>
      work(inTurn(snapshot, () => isOver)),
    );
  } finally {
    isOver = true;
    end();
  }
}

/** The same, with so many commands at a time, and none after the end: where one fails, others may wait still. */
function inTurn({ time, find, pipeline, explain, aggregate }: Snapshot, isOver: () => boolean): Snapshot {
  const turns = openTurns(COMMANDS);
  const bounded =
    <A extends unknown[], R>(command: (...args: A) => Promise<R>) =>
    async (...args: A): Promise<R> => {
      // What runs before it ends by the budget.
      const end = await turns.begin();
      try {
        if (isOver()) throw storeBusy();
        return await command(...args);
      } finally {
        end();
      }
    };
  return {
    time,
    find: bounded(find),
    pipeline: bounded(pipeline),
    explain: bounded(explain),
    aggregate: bounded(aggregate),
  };
}
