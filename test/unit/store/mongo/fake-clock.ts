import type { Clock } from '../../../../runtime/jobs/engine/clock.js';

/** A clock that goes on only when a test says so. */
export interface FakeClock extends Clock {
  /** Goes on by some milliseconds and wakes the sleepers whose time has come, the earliest first. */
  advance(milliseconds: number): Promise<void>;
}

interface Sleeper {
  readonly at: number;
  wake(): void;
}

/** Lets everything run that needs no time. */
export async function settled(): Promise<void> {
  for (let i = 0; i < 30; i++) await new Promise((resolve) => setImmediate(resolve));
}

/** A clock at an instant of its own. */
export function createFakeClock(start = Date.UTC(2026, 0, 1)): FakeClock {
  let time = start;
  const sleepers = new Set<Sleeper>();
  return {
    now: () => time,
    sleep: (milliseconds, signal) =>
      new Promise((resolve, reject) => {
        const onAbort = (): void => {
          sleepers.delete(sleeper);
          reject(signal.reason as Error);
        };
        const sleeper = {
          at: time + milliseconds,
          wake() {
            sleepers.delete(sleeper);
            signal.removeEventListener('abort', onAbort);
            resolve();
          },
        };
        if (signal.aborted) return onAbort();
        signal.addEventListener('abort', onAbort, { once: true });
        sleepers.add(sleeper);
      }),
    async advance(milliseconds) {
      const end = time + milliseconds;
      for (;;) {
        await settled();
        const next = [...sleepers].sort((a, b) => a.at - b.at)[0];
        if (next === undefined || next.at > end) break;
        time = Math.max(time, next.at);
        next.wake();
      }
      time = end;
      await settled();
    },
  };
}
