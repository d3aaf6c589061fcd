import type { FaultStep } from '../settings.js';

/** Called at each step of a write; at the one that a test named, the process dies as it does when the power fails. */
export type Fault = (step: FaultStep) => void;

/**
 * @param faultAt the step to die at; absent: none
 * @param after how often the step is passed before
 */
export function openFault(faultAt: FaultStep | undefined, after: number): Fault {
  if (faultAt === undefined) return () => {};
  let passed = 0;
  return (step) => {
    if (step !== faultAt || passed++ < after) return;
    process.kill(process.pid, 'SIGKILL');
    // The signal takes a moment, in which nothing more may happen.
    Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, 10_000);
  };
}
