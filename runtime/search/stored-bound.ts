import type { Visit } from '../path/visit.js';
import { sizeOf } from '../path/size-of.js';
import type { Pace } from './pace.js';
import type { Harvest } from './values/converter.js';

/**
 * What may be converted of one resource for all stored parameters together: an expression may find each value as often as it likes,
 * so that little text gives any number of entries.
 */
export const MOST_CONVERTED = { values: 10_000, characters: 1_000_000 } as const;

/**
 * The visit of all that a stored parameter is read off. Where its expression fails, or more is found than may be converted, the
 * resource has no entries of it, and the harvest says so. Never throws.
 *
 * @param code of the parameter
 * @param pace absent: it is evaluated however long it takes
 */
export function storedVisit(code: string, visit: Visit<Harvest>, pace?: Pace): Visit<Harvest> {
  return (value, harvest) => {
    const { root } = harvest;
    if (pace?.admits(visit, root) === false) {
      (harvest.failed ??= new Set()).add(code);
      return;
    }
    const begun = performance.now();
    harvest.charge ??= createCharge();
    const { out } = harvest;
    const before = out.length;
    try {
      visit(value, harvest);
    } catch {
      harvest.out = out;
      out.length = before;
      (harvest.failed ??= new Set()).add(code);
    }
    pace?.took(visit, root, performance.now() - begun);
  };
}

/** @returns counts what is about to be converted, or to be compared whole. @throws RangeError where it is too much by then */
function createCharge(): NonNullable<Harvest['charge']> {
  let { values, characters }: { values: number; characters: number } = MOST_CONVERTED;
  return (value, times = 1) => {
    values -= times;
    if (values >= 0) characters -= sizeOf(value, characters);
    if (values < 0 || characters < 0) throw new RangeError('too much is found');
  };
}
