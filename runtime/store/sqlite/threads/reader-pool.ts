import { queryBudgetOf } from '../../query-budget.js';
import { openSlowQueryCache } from '../../slow-query-cache.js';
import type { ReaderOperations } from './reader-worker.js';
import { openReaderQueues, type Job, type Reader } from './reader-queues.js';
import type { ThreadSettings } from '../settings.js';
import { startWorker } from './start-thread.js';
import { openThread } from './thread.js';
import { isTooCostly, tooCostly } from '../file/too-costly.js';

/**
 * How long a query may take on the reader that is kept for short ones, in milliseconds; one that takes longer begins anew
 * on another, when that is free.
 */
const SLICE = 100;

/** One that is like others which took long gives way there, once it had so many milliseconds. */
const PIECE = 10;

/** What may take long. */
const LONG: ReadonlySet<keyof ReaderOperations> = new Set([
  'find',
  'findMultiType',
  'findLines',
  'countBy',
  'explain',
  'history',
  'counts',
]);

/** How long a query that has to stop may go on before its thread is ended, in milliseconds. */
const GRACE = 3000;

/** Limits of one query. */
export interface QueryLimits {
  readonly signal?: AbortSignal | undefined;
  /** Milliseconds from now on, waiting included; past them it rejects with `too-costly`. */
  readonly budget?: number;
  /** What is looked for: others of the same shape likely take as long. */
  readonly query?: object;
}

/**
 * Threads that read, each one query at a time; more wait in the order they came. Where there are several, one is kept for
 * short queries, so that these do not wait for long ones.
 */
export interface ReaderPool {
  run<K extends keyof ReaderOperations>(
    kind: K,
    args: Parameters<ReaderOperations[K]>,
    limits?: QueryLimits,
  ): Promise<ReturnType<ReaderOperations[K]>>;
  /** Whether one of its shape took long a moment ago. */
  isLikeLong(query: object): boolean;
  close(): Promise<void>;
}

/** A pool of this many threads, each started when it is needed first. */
export function openReaderPool(size: number, settings: ThreadSettings): ReaderPool {
  const readers = Array.from({ length: size }, (_, n): Reader => {
    const stop = new Int32Array(new SharedArrayBuffer(4));
    const isForLong = n > 0;
    const thread = openThread<ReaderOperations>(() => startWorker('reader-worker', { settings, stop, isForLong }));
    return { thread, stop, isBusy: false, isStarted: false };
  });
  const shortOnly = size > 1 ? readers[0] : undefined;
  /** Has what is on the reader for short ones give way, where that is like others which took long. */
  let giveWay: (() => void) | undefined;
  const queues = openReaderQueues(readers, shortOnly, () => giveWay?.());
  const longShapes = openSlowQueryCache(SLICE);

  return {
    run(kind, args, { signal, budget = queryBudgetOf(signal, settings.queryBudget), query } = {}) {
      return new Promise((resolve, reject) => {
        if (signal?.aborted) return reject(signal.reason);
        const asked = performance.now();
        let stop: (() => void) | undefined;
        let isOver = false;
        let sliceLeft = SLICE;
        let kill: NodeJS.Timeout | undefined;
        const timer = setTimeout(() => giveUp(tooCostly()), budget);
        const onAbort = (): void => giveUp(signal?.reason);
        signal?.addEventListener('abort', onAbort, { once: true });

        function settled(): void {
          clearTimeout(timer);
          signal?.removeEventListener('abort', onAbort);
        }

        /** The client is answered at once; the thread stops when it looks next. */
        function giveUp(reason: unknown): void {
          isOver = true;
          settled();
          reject(reason as Error);
          queues.remove(job);
          stop?.();
        }

        function start(reader: Reader): void {
          const isReady = reader.isStarted;
          reader.isBusy = true;
          reader.isStarted = true;
          const begun = performance.now();
          const left = asked + budget - begun;
          const isSlice = reader === shortOnly && LONG.has(kind) && left > sliceLeft;
          let requestId = 0;
          let hasGivenWay = false;
          let inPiece: NodeJS.Timeout | undefined;
          stop = () => {
            Atomics.store(reader.stop, 0, requestId);
            kill ??= setTimeout(() => reader.thread.kill(), GRACE);
          };
          if (isSlice && job.place === 'like long') {
            giveWay = () => {
              giveWay = undefined;
              const stopHere = (): void => {
                hasGivenWay = true;
                stop?.();
              };
              inPiece = setTimeout(stopHere, Math.max(0, begun + PIECE - performance.now()));
            };
          }
          let goesOn = false;
          reader.thread
            .request(kind, args, { budget: isSlice ? sliceLeft : left, onId: (id) => (requestId = id) })
            .then(resolve, (error: unknown) => {
              goesOn = isSlice && !isOver && (hasGivenWay || isTooCostly(error));
              if (!goesOn) reject(error as Error);
            })
            .finally(() => {
              const took = performance.now() - begun;
              // Opening a connection says nothing of a query, nor does being stopped.
              if (query !== undefined && isReady && !hasGivenWay) longShapes.note(query, took);
              sliceLeft -= hasGivenWay ? took : SLICE;
              stop = undefined;
              if (reader === shortOnly) giveWay = undefined;
              clearTimeout(inPiece);
              clearTimeout(kill);
              kill = undefined;
              if (goesOn) {
                job.place = sliceLeft < PIECE ? 'long' : 'like long';
                queues.add(job);
              } else settled();
              queues.release(reader);
            });
        }

        const isLikeLong = (): boolean => query !== undefined && longShapes.has(query);
        const job: Job = { mayBeLong: LONG.has(kind), place: 'first', isLikeLong, start };
        queues.add(job);
      });
    },
    isLikeLong: longShapes.has,
    async close() {
      await Promise.all(readers.map(({ thread }) => thread.close()));
    },
  };
}
