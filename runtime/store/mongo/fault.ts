import type { FaultStep } from './settings.js';

/** Called when a write reaches a step. */
export type Fault = (step: FaultStep) => void;

/** Kills this process by SIGKILL at a step, after `after` earlier passes, to simulate a crash in tests. */
export function openFault(faultAt: FaultStep | undefined, after: number): Fault {
  if (faultAt === undefined) return () => {};
  let passed = 0;
  return (step) => {
    if (step !== faultAt || passed++ < after) return;
    const kill = (): void => void process.kill(process.pid, 'SIGKILL');
    // The caller that awaits the write continues first.
    if (step === 'answered') setImmediate(kill);
    else kill();
  };
}
