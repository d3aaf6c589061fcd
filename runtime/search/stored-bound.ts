import { sizeOf } from '../path/size-of.js';
import type { Visit } from '../path/visit.js';
import type { ExtractionThrottle } from './extraction-throttle.js';
import type { Harvest } from './values/converter.js';

/**
 * What may be converted of one resource for all stored parameters together: an expression may find each value as often as it likes,
 * so that little text gives any number of entries.
 */
export const MOST_CONVERTED = { values: 10_000, characters: 1_000_000 } as const;

/**
 * What all stored parameters together may take of one resource, in milliseconds: those behind have failed on it. The library has
 * half of it, so that what it was stopped in leaves time for what is compiled.
 */
export const LONGEST = 1000;

/** What a stored parameter is read off, and its code. */
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
