import { url as inspectorUrl } from 'node:inspector';
import { Worker } from 'node:worker_threads';

/** Settings that the watchdog's thread receives. */
export interface WatchdogSettings {
  /** One number for each of `PLACES`. */
  readonly shared: Int32Array<SharedArrayBuffer>;
  /** Seconds that the main thread may be blocked. */
  readonly patience: number;
}

/** Indexes of the numbers in the shared array through which the main thread reports to the watchdog. */
export const PLACES = {
  /** It counts on while the main thread goes on. */
  beat: 0,
  /** Seconds after which the process is to have ended; 0: it serves. */
  end: 1,
} as const;

/** Watchdog of the main thread. */
export interface Watchdog {
  /** From now on the process has so many milliseconds until it ends. */
  expectEnd(time: number): void;
  /** The process ends by itself from here. */
  stop(): Promise<void>;
}

/** How long the main thread may be blocked, in seconds. A signal that ends the process has no effect meanwhile: the main thread takes it. */
const PATIENCE = 30;

/** How often the main thread shows that it goes on, in milliseconds. */
const BEAT = 500;

/**
 * Starts a thread that ends the process where the main thread is blocked: it answers no client, and would not take SIGTERM. Under a debugger, which
 * blocks it at breakpoints, there is no such thread.
 */
export function startWatchdog(): Watchdog | undefined {
  if (inspectorUrl() !== undefined) return undefined;
  const shared = new Int32Array(new SharedArrayBuffer(8));
  const workerData: WatchdogSettings = { shared, patience: PATIENCE };
  const resourceLimits = { maxOldGenerationSizeMb: 16, maxYoungGenerationSizeMb: 2 };
  const thread = new Worker(new URL('./watchdog-worker.js', import.meta.url), { workerData, resourceLimits });
  thread.unref();
  // A server without it serves as well as ever.
  thread.on('error', () => {});
  const timer = setInterval(() => void Atomics.add(shared, PLACES.beat, 1), BEAT).unref();
  return {
    expectEnd: (time) => void Atomics.store(shared, PLACES.end, Math.max(1, Math.ceil(time / 1000))),
    async stop() {
      clearInterval(timer);
      await thread.terminate();
    },
  };
}
