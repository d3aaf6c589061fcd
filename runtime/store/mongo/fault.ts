import type { FaultStep } from './settings.js';

/** A step of a write is reached. */
export type Fault = (step: FaultStep) => void;

/** Kills this process at a step, as a crash would; for tests. */
export function openFault(faultAt: FaultStep | undefined): Fault {
  if (faultAt === undefined) return () => {};
  return (step) => {
    if (step !== faultAt) return;
    const kill = (): void => void process.kill(process.pid, 'SIGKILL');
    // Whoever waits for the write goes on first.
    if (step === 'answered') setImmediate(kill);
    else kill();
  };
}
