import type { ReaderOperations } from './reader-operations.js';
import type { ThreadSettings } from './settings.js';
import { startWorker } from './start-thread.js';
import { openThread, type Thread } from './thread.js';
import { tooCostly } from './too-costly.js';

/** How long a query that has to stop may go on before its thread is ended, in milliseconds. */
const GRACE = 3000;

/** What a query is given. */
export interface QueryLimits {
  readonly signal?: AbortSignal | undefined;
  /** Milliseconds from now on, waiting included; past them it rejects with `too-costly`. */
  readonly budget?: number;
}

/** Threads that read, each one query at a time; more wait in the order they came. */
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
  const queue: ((reader: Reader) => void)[] = [];

  function take(): void {
    while (queue.length > 0) {
      // One that runs already is rather taken than one that would have to be started.
      const idle = readers.filter(({ isBusy }) => !isBusy);
      const reader = idle.find(({ isStarted }) => isStarted) ?? idle[0];
      if (reader === undefined) return;
      queue.shift()?.(reader);
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
          settled();
          reject(reason as Error);
          const place = queue.indexOf(start);
          if (place >= 0) queue.splice(place, 1);
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
          const more = { budget: deadline - performance.now(), onId: (id: number) => (requestId = id) };
          reader.thread
            .request(kind, args, more)
            .then(resolve, reject)
            .finally(() => {
              onReader = undefined;
              clearTimeout(kill);
              settled();
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
