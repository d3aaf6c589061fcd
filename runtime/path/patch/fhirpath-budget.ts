import { PatchFault } from './fhirpath-fault.js';

/**
 * Steps that the paths of one patch may take, a step being an element looked at: some tenths of a second of work. Far
 * more than patches need, and few enough that nobody else waits long.
 */
export const MAX_STEPS = 500_000;

/** Operations that a patch may have. */
export const MAX_OPERATIONS = 10_000;

/** What the paths of one patch may still cost. */
export class Budget {
  constructor(private left: number = MAX_STEPS) {}

  /** @throws PatchFault when there is nothing left */
  spend(steps: number): void {
    this.left -= steps;
    if (this.left < 0)
      throw new PatchFault('the paths of this patch take too long to evaluate', 'path', 'patch-too-large');
  }
}
