import { PathFault } from '../../path/expression/path-fault.js';

/**
 * Steps that one patch may take, a step being an element that a path looks at: some tenths of a second of work. Far more
 * than patches need, and few enough that no other request waits long.
 */
export const MAX_STEPS = 500_000;

/** Cost of copying one item of a list, in steps: each operation makes a new list. */
export const COPIED_ITEM = 1 / 64;

/** Budget of one patch: the steps that it may still take. */
export class Budget {
  constructor(public left: number = MAX_STEPS) {}

  /** @throws PathFault when there is nothing left */
  spend(steps: number): void {
    this.left -= steps;
    if (this.left < 0)
      throw new PathFault(
        'this patch looks at too much, or changes too long lists too often',
        'path',
        'patch-too-large',
      );
  }
}
