import { setTimeout as wait } from 'node:timers/promises';

/** Time, so that tests can supply their own. */
export interface Clock {
  /** Milliseconds since the epoch. */
  now(): number;
  /** Pauses; keeps no process alive. @throws the signal's reason once it aborts */
  sleep(milliseconds: number, signal: AbortSignal): Promise<void>;
}

/** The machine's. */
export const SYSTEM_CLOCK: Clock = {
  now: Date.now,
  async sleep(milliseconds, signal) {
    try {
      await wait(milliseconds, undefined, { signal, ref: false });
    } catch (error) {
      signal.throwIfAborted();
      throw error;
    }
  },
};
