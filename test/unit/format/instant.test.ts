import fc from 'fast-check';
import { describe, expect, it } from 'vitest';

import { formatHttpDate, formatInstant, parseHttpDate } from '../../../runtime/fhir/instant.js';

/** What a Date can be, in milliseconds. */
const MOST = 8.64e15;

describe('times as texts', () => {
  const times = fc.oneof(
    fc.double({ min: -MOST, max: MOST, noNaN: true }),
    fc.integer({ min: 0, max: 4e12 }),
    // Around midnight, and two of one day.
    fc
      .tuple(fc.integer({ min: -20_000, max: 20_000 }), fc.integer({ min: -2, max: 2 }))
      .map(([day, ms]) => day * 864e5 + ms),
  );

  it('are those that a Date gives, whatever was asked for before', () => {
    fc.assert(
      fc.property(fc.array(times, { minLength: 1, maxLength: 5 }), (several) => {
        for (const time of several) {
          expect(formatInstant(time)).toBe(new Date(time).toISOString());
          expect(formatHttpDate(time)).toBe(new Date(time).toUTCString());
        }
      }),
      { numRuns: 1000 },
    );
  });

  it('are read again, to the second', () => {
    expect(parseHttpDate(formatHttpDate(1_790_000_000_999))).toBe(1_790_000_000_000);
  });

  it('are none where there is no time', () => {
    expect(() => formatInstant(NaN)).toThrow(RangeError);
    expect(formatInstant(0)).toBe('1970-01-01T00:00:00.000Z');
  });
});
