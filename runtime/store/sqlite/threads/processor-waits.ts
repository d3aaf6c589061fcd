import { closeSync, openSync, readSync } from 'node:fs';

/** For how long a thread was ready to run while others had the processors. */
export interface ProcessorWaits {
  /** In milliseconds since the thread began; 0 at all times where the system does not tell. */
  total(): number;
  close(): void;
}

/** Opens the waits of the calling thread, as Linux counts them: https://docs.kernel.org/scheduler/sched-stats.html */
export function openProcessorWaits(): ProcessorWaits {
  const file = open();
  if (file === undefined) return { total: () => 0, close: () => {} };
  const bytes = Buffer.alloc(64);
  return {
    total() {
      // Nanoseconds on a processor, and waiting for one.
      const text = bytes.toString('latin1', 0, readSync(file, bytes, 0, bytes.length, 0));
      return Number(text.split(' ')[1] ?? 0) / 1e6;
    },
    close: () => closeSync(file),
  };
}

function open(): number | undefined {
  try {
    return openSync('/proc/thread-self/schedstat', 'r');
  } catch {
    return undefined;
  }
}
