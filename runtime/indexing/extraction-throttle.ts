import { sizeOf } from '../path/size-of.js';

/**
 * Keeps stored parameters that are slow from taking the time of everybody, again and again, where clients wait: one whose expression
 * takes long on a resource is not evaluated on such large ones for some time, once all together have taken too much.
 */
export interface ExtractionThrottle {
  /** Whether it may be evaluated now. @param parameter whatever stands for it on this type */
  admits(parameter: object, resource: object): boolean;
  /** @param took what each took of the resource, in milliseconds */
  took(took: ReadonlyMap<object, number>, resource: object): void;
}

/**
 * Limits of the throttle, in milliseconds. From `slow` on for one resource, all stored parameters together count as
 * slow; of each `minute` they may take `most`.
 */
export const THROTTLE = { slow: 100, most: 2000, minute: 60_000 } as const;
/** It will be slow on somewhat smaller ones as well: so few resources are needed to find out on which it is not. */
const SMALLER = 3 / 4;

/** @param now the clock, in milliseconds */
export function createExtractionThrottle(now: () => number = () => performance.now()): ExtractionThrottle {
  let begun = now();
  let taken = 0;
  /** Of those that were slow the size from which on they are. */
  let slow = new WeakMap<object, number>();
  const turn = (): void => {
    if (now() - begun < THROTTLE.minute) return;
    begun = now();
    taken = 0;
    slow = new WeakMap();
  };
  return {
    admits(parameter, resource) {
      if (taken < THROTTLE.most) return true;
      turn();
      const from = slow.get(parameter);
      return taken < THROTTLE.most || from === undefined || sizeOf(resource, from) < from;
    },
    took(took, resource) {
      let all = 0;
      for (const each of took.values()) all += each;
      if (all < THROTTLE.slow) return;
      turn();
      taken += all;
      const from = sizeOf(resource, Infinity) * SMALLER;
      // The slowest, until those that are left are quick together.
      for (const [parameter, each] of [...took].sort(([, a], [, b]) => b - a)) {
        if (all < THROTTLE.slow) break;
        all -= each;
        slow.set(parameter, Math.min(slow.get(parameter) ?? Infinity, from));
      }
    },
  };
}
