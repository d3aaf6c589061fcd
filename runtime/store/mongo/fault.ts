import type { FaultStep } from './settings.js';

/** A step of a write is reached. */
export type Fault = (step: FaultStep) => void;

/** Kills this process at a step, as a crash would, when it was passed so often; for tests. */
export function openFault(faultAt: FaultStep | undefined, after: number): Fault {
  if (faultAt === undefined) return () => {};
  let passed = 0;
  return (step) => {
    if (step !== faultAt || passed++ < after) return;
    const kill = (): void => void process.kill(process.pid, 'SIGKILL');
    // Whoever waits for the write goes on first.
    if (step === 'answered') setImmediate(kill);
    else kill();
  };
}
