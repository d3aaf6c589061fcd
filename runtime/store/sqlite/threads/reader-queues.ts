import { append } from '../../../fhir/lists.js';
import type { ReaderOperations } from './reader-worker.js';
import type { Thread } from './thread.js';

/** A thread that reads. */
export interface Reader {
  readonly thread: Thread<ReaderOperations>;
  /** Its only number is the id of a request that is to stop. */
  readonly stop: Int32Array;
  isBusy: boolean;
  isStarted: boolean;
}

/** A query that waits for a reader, or has one. */
export interface Job {
  /** Whether it may take long. */
  readonly mayBeLong: boolean;
  /** Where it waits. */
  place: ReaderLane;
  /** Whether others like it took long by now. */
  isLikeLong(): boolean;
  /** Has it begin. */
  start(reader: Reader): void;
}

/** Queries of which nothing is known; those that are like others which took long; and those that did so themselves. */
export type ReaderLane = 'first' | 'like long' | 'long';

/** Who is next. */
export interface ReaderQueues {
  /** Waits for a reader, and begins there. */
  add(job: Job): void;
  /** Is not going to begin. */
  remove(job: Job): void;
  release(reader: Reader): void;
}

/**
 * Gives readers to queries, each kind in the order they came. One reader is kept for those that are short; it is left free as long as
 * another is for one that may be long.
 *
 * @param shortOnly the reader that is kept; undefined: there is only one
 * @param onWait a query that is not known to be long waits for a reader
 */
export function openReaderQueues(
  readers: readonly Reader[],
  shortOnly: Reader | undefined,
  onWait: () => void,
): ReaderQueues {
  const queues: Readonly<Record<ReaderLane, Job[]>> = { long: [], first: [], 'like long': [] };

  /** Of the others one that runs already is rather taken than one that would have to be started. */
  function findIdle(mayBeLong: boolean): Reader | undefined {
    const others = readers.filter((reader) => !reader.isBusy && reader !== shortOnly);
    const other = others.find(({ isStarted }) => isStarted) ?? others[0];
    const short = shortOnly?.isBusy === false ? shortOnly : undefined;
    if (mayBeLong) return other ?? short;
    return short?.isStarted === false && other?.isStarted === true ? other : (short ?? other);
  }

  function readerFor(place: ReaderLane): Reader | undefined {
    let [job] = queues[place];
    for (; place === 'first' && job?.isLikeLong() === true; [job] = queues.first) {
      job.place = 'like long';
      append(queues['like long'], queues.first.splice(0, 1));
    }
    if (job === undefined) return undefined;
    const reader = findIdle(job.mayBeLong);
    return place === 'long' && reader === shortOnly && shortOnly !== undefined ? undefined : reader;
  }

  function take(): void {
    for (let isAny = true; isAny;) {
      isAny = false;
      for (const place of ['long', 'first', 'like long'] as const) {
        const reader = readerFor(place);
        if (reader === undefined) continue;
        queues[place].shift()!.start(reader);
        isAny = true;
        break;
      }
    }
    if (queues.first.length > 0) onWait();
  }

  return {
    add(job) {
      queues[job.place].push(job);
      take();
    },
    remove(job) {
      const at = queues[job.place].indexOf(job);
      if (at >= 0) queues[job.place].splice(at, 1);
    },
    release(reader) {
      reader.isBusy = false;
      take();
    },
  };
}
