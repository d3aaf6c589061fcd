import type { ReaderOperations } from './reader-operations.js';
import type { ThreadSettings } from './settings.js';
import { startWorker } from './start-thread.js';
import { openThread, type Thread } from './thread.js';
import { isTooCostly, tooCostly } from './too-costly.js';

/**
 * How long a query may take on the reader that is kept for short ones, in milliseconds; one that takes longer begins anew
 * on another, when that is free.
 */
const SLICE = 100;

/** What may take long. */
const LONG: ReadonlySet<keyof ReaderOperations> = new Set(['find', 'findAcross', 'explain', 'history', 'counts']);

/** How long a query that has to stop may go on before its thread is ended, in milliseconds. */
const GRACE = 3000;

/** What a query is given. */
export interface QueryLimits {
  readonly signal?: AbortSignal | undefined;
  /** Milliseconds from now on, waiting included; past them it rejects with `too-costly`. */
  readonly budget?: number;
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
  /** Has every thread, before its next query, open its connection anew. */
  reopen(): void;
  close(): Promise<void>;
}

/** Has a query begin on a reader. */
type Start = (reader: Reader) => void;

interface Reader {
  readonly thread: Thread<ReaderOperations>;
  readonly stop: Int32Array;
  isBusy: boolean;
  isStarted: boolean;
  isStale: boolean;
}

/** A pool of this many threads, each started when it is needed first. */
export function openReaderPool(size: number, settings: ThreadSettings): ReaderPool {
  const readers = Array.from({ length: size }, (): Reader => {
    const stop = new Int32Array(new SharedArrayBuffer(4));
    const thread = openThread<ReaderOperations>(() => startWorker('reader-worker', { settings, stop }));
    return { thread, stop, isBusy: false, isStarted: false, isStale: false };
  });
  const queue: Start[] = [];
  /** Those that were not short. */
  const longQueue: Start[] = [];
  const shortOnly = size > 1 ? readers[0] : undefined;

  /** One that runs already is rather taken than one that would have to be started. */
  function findIdle(other?: Reader): Reader | undefined {
    let found: Reader | undefined;
    for (const reader of readers) {
      if (reader.isBusy || reader === other) continue;
      if (reader.isStarted) return reader;
      found ??= reader;
    }
    return found;
  }

  function take(): void {
    for (;;) {
      const forLong = longQueue.length > 0 ? findIdle(shortOnly) : undefined;
      const reader = forLong ?? (queue.length > 0 ? findIdle() : undefined);
      if (reader === undefined) return;
      (forLong === undefined ? queue : longQueue).shift()?.(reader);
    }
  }

  function release(reader: Reader): void {
    reader.isBusy = false;
    take();
  }

  return {
    run(kind, args, { signal, budget = settings.queryBudget } = {}) {
      return new Promise((resolve, reject) => {
        if (signal?.aborted) return reject(signal.reason);
        let onReader: Reader | undefined;
        let requestId = 0;
        let isOver = false;
        const deadline = performance.now() + budget;
        const timer = setTimeout(() => giveUp(tooCostly()), budget);
        const onAbort = (): void => giveUp(signal?.reason);
        signal?.addEventListener('abort', onAbort, { once: true });

        function settled(): void {
          clearTimeout(timer);
          signal?.removeEventListener('abort', onAbort);
        }

        /** The client is told at once; the thread stops when it looks next. */
        function giveUp(reason: unknown): void {
          isOver = true;
          settled();
          reject(reason as Error);
          for (const waiting of [queue, longQueue]) {
            const place = waiting.indexOf(start);
            if (place >= 0) waiting.splice(place, 1);
          }
          const reader = onReader;
          if (reader === undefined) return;
          Atomics.store(reader.stop, 0, requestId);
          kill = setTimeout(() => reader.thread.kill(), GRACE);
        }
        let kill: NodeJS.Timeout | undefined;

        function start(reader: Reader): void {
          onReader = reader;
          reader.isBusy = true;
          reader.isStarted = true;
          if (reader.isStale) reader.thread.request('reopen', []).catch(() => {});
          reader.isStale = false;
          const left = deadline - performance.now();
          const isSlice = reader === shortOnly && LONG.has(kind) && left > SLICE;
          const more = { budget: isSlice ? SLICE : left, onId: (id: number) => (requestId = id) };
          let goesOn = false;
          reader.thread
            .request(kind, args, more)
            .then(resolve, (error: unknown) => {
              goesOn = isSlice && !isOver && isTooCostly(error);
              if (!goesOn) reject(error as Error);
            })
            .finally(() => {
              onReader = undefined;
              clearTimeout(kill);
              if (goesOn) longQueue.push(start);
              else settled();
              release(reader);
            });
        }

        queue.push(start);
        take();
      });
    },
    reopen() {
      for (const reader of readers) reader.isStale = reader.isStarted;
    },
    async close() {
      await Promise.all(readers.map(({ thread }) => thread.close()));
    },
  };
}
