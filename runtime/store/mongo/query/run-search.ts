import { openAdmission, type Admission } from '../../../fhir/admission.js';
import { FhirError } from '../../../fhir/errors.js';
import { storeBusy, tooCostly } from '../mongo-errors.js';
import type { ClusterTime } from '../read/batch.js';
import type { QueryLimits, Snapshot, Snapshots } from '../read/snapshot.js';
import { openSlowQueryCache, type SlowQueryCache } from '../../slow-query-cache.js';

/** Commands that one search has under way at a time: a page and its total; one by one where it takes long. */
const COMMANDS = 2;

/** A quarter of the connections is for searches that are short, few for those that take long; the others are for everything else. */
const [FOR_SHORT, FOR_LONG] = [4, 16];

/** Fewer connections are for one search of each level. */
const FEW_CONNECTIONS = 16;

/** How long those may take that are short, those in between, and from when on one is long, in milliseconds. */
const [SHORT_TIME, MIDDLE_TIME, LONG_TIME] = [100, 250, 1000];

/** Searches of a level run together; what takes longer than the time of its level, in milliseconds, goes on in the next. */
interface Level {
  readonly turns: Admission;
  /** Of each search, at a time. */
  readonly commands: number;
  readonly time: number;
}

/** The turns of searches, by level: who is quick does not wait for those who are not. */
export interface SearchTurns {
  readonly levels: readonly Level[];
  /** Where those begin that are like others which took long: few together, so that they leave turns to the others. */
  readonly likeLong: Level;
  readonly longShapes: SlowQueryCache;
}

/** @param poolSize connections of this process */
export function openSearchTurns(poolSize: number): SearchTurns {
  const isSmall = poolSize < FEW_CONNECTIONS;
  const short = isSmall ? 1 : Math.floor(poolSize / FOR_SHORT / COMMANDS);
  const long = isSmall ? 1 : Math.max(1, Math.floor(poolSize / FOR_LONG));
  const first = { turns: openAdmission({ inside: short }), commands: isSmall ? 1 : COMMANDS, time: SHORT_TIME };
  return {
    levels: [first, ...(isSmall ? [Infinity] : [MIDDLE_TIME, LONG_TIME, Infinity]).map((time) => toLong(long, time))],
    likeLong: isSmall ? first : toLong(1, MIDDLE_TIME),
    longShapes: openSlowQueryCache(LONG_TIME),
  };
}

function toLong(most: number, time: number): Level {
  return { turns: openAdmission({ inside: most, next: 'newest' }), commands: 1, time };
}

/**
 * Runs a search when it is its turn; the time it waits is part of its budget. Before its turn nothing is made of it: what is made
 * of a large search takes the process as much time as the database. One that has not ended in the time of its level is stopped
 * there, and begins anew when the next level has a turn for it; where that has one from the start, it goes on.
 *
 * @param at an earlier moment to read
 */
export async function runSearch<T>(
  snapshots: Snapshots,
  { levels: all, likeLong, longShapes }: SearchTurns,
  query: object,
  { budget, signal }: QueryLimits,
  work: (snapshot: Snapshot) => Promise<T>,
  at?: ClusterTime,
): Promise<T> {
  const deadline = performance.now() + budget;
  // Those in between are left to searches that have never been seen to be long.
  const levels = longShapes.has(query) ? [likeLong, all.at(-1)!] : all;
  for (let from = 0; ;) {
    const { turns, commands } = levels[from]!;
    const patience = { time: deadline - performance.now(), late: from === 0 ? storeBusy : tooCostly };
    const turn = await turns.enter(1, { signal, patience });
    const run = passLevels(levels, from, turn);
    const begun = performance.now();
    let isOver = false;
    const rest = deadline - performance.now();
    try {
      const limits = { budget: rest, stopAfter: run.time, signal, late: tooCostly };
      return await snapshots.run(limits, (snapshot) => work(inTurn(snapshot, commands, () => isOver)), at);
    } catch (error) {
      if (run.time >= rest || !(error instanceof FhirError && error.code === 'too-costly')) throw error;
      from = run.next;
    } finally {
      isOver = true;
      run.end();
      longShapes.note(query, performance.now() - begun);
    }
  }
}

/** Takes the turns of further levels that are free, and gives each back when the time of its level is over. */
function passLevels(
  levels: readonly Level[],
  from: number,
  first: () => void,
): { readonly time: number; readonly next: number; readonly end: () => void } {
  const ends = [first];
  const timers: NodeJS.Timeout[] = [];
  let { time } = levels[from]!;
  let next = from + 1;
  for (; next < levels.length; next++) {
    const { turns, time: more } = levels[next]!;
    const end = turns.tryEnter();
    if (end === undefined) break;
    timers.push(setTimeout(ends.at(-1)!, time));
    ends.push(end);
    time += more;
  }
  return {
    time,
    next,
    end() {
      timers.forEach(clearTimeout);
      for (const end of ends) end();
    },
  };
}

/** The same, with so many commands at a time, and none after the end: where one fails, others may wait still. */
function inTurn(
  { isRouted, time, find, byKeys, pipeline, explain, aggregate }: Snapshot,
  most: number,
  isOver: () => boolean,
): Snapshot {
  const turns = openAdmission({ inside: most });
  const bounded =
    <A extends unknown[], R>(command: (...args: A) => Promise<R>) =>
    async (...args: A): Promise<R> => {
      // What runs before it ends by the budget.
      const end = await turns.enter();
      try {
        if (isOver()) throw storeBusy();
        return await command(...args);
      } finally {
        end();
      }
    };
  return {
    isRouted,
    time,
    find: bounded(find),
    byKeys: bounded(byKeys),
    pipeline: bounded(pipeline),
    explain: bounded(explain),
    aggregate: bounded(aggregate),
  };
}
