import { sizeOf } from '../path/size-of.js';
import type { Visit } from '../path/visit.js';
import type { ExtractionThrottle } from './extraction-throttle.js';
import type { Harvest } from './values/converter.js';

/**
 * Greatest amount that is converted of one resource for all stored parameters together. An expression may find each
 * value any number of times, so that little text could give any number of entries.
 */
export const MOST_CONVERTED = { values: 10_000, characters: 1_000_000 } as const;

/**
 * Greatest time that all stored parameters together may take of one resource, in milliseconds. Parameters that are not
 * evaluated by then count as failed on it.
 */
export const LONGEST = 1000;

/** Visit that reads a stored parameter, and the code of the parameter. */
export interface StoredVisit {
  readonly code: string;
  readonly visit: Visit<Harvest>;
}

/**
 * The visit of all that stored parameters are read off. Where an expression fails, or more is found than may be converted, or time
 * is up, the resource has no entries of that parameter, and the harvest says so. Never throws.
 *
 * @param pace absent: they are evaluated however often that takes long
 */
export function storedVisits(parameters: readonly StoredVisit[], pace?: ExtractionThrottle): Visit<Harvest> {
  if (parameters.length === 0) return () => {};
  return (value, harvest) => {
    const { root, out } = harvest;
    harvest.charge ??= createCharge();
    const begun = performance.now();
    const took = new Map<object, number>();
    let before = begun;
    for (const { code, visit } of parameters) {
      const length = out.length;
      try {
        if (before - begun > LONGEST || pace?.admits(visit, root) === false) throw new RangeError('time is up');
        visit(value, harvest);
      } catch {
        harvest.out = out;
        out.length = length;
        (harvest.failed ??= new Set()).add(code);
      }
      const now = performance.now();
      took.set(visit, now - before);
      before = now;
    }
    pace?.took(took, root);
  };
}

/** @returns counts what is about to be converted, or to be compared whole. @throws RangeError where it is too much by then */
export function createCharge(): NonNullable<Harvest['charge']> {
  let { values, characters }: { values: number; characters: number } = MOST_CONVERTED;
  return (value, times = 1) => {
    values -= times;
    if (values >= 0) characters -= sizeOf(value, characters);
    if (values < 0 || characters < 0) throw new RangeError('too much is found');
  };
}
