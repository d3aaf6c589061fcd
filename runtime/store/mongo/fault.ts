import type { FaultStep } from './settings.js';

/** A step of a write is reached. */
export type Fault = (step: FaultStep) => void;

/** Kills this process at a step, as a crash would; for tests. */
export function openFault(faultAt: FaultStep | undefined): Fault {
  if (faultAt === undefined) return () => {};
  return (step) => {
    if (step === faultAt) process.kill(process.pid, 'SIGKILL');
  };
}
