import fc from 'fast-check';
import { describe, expect, it } from 'vitest';

import { dateEnds, numberEnds, PREFIXES, readPrecise, type Prefix } from '../../runtime/search/query/intervals.js';
import { isWithin } from '../../runtime/search/query/match.js';

/** An interval of a resource; an end that is absent is open. */
interface Interval {
  readonly low?: number;
  readonly high?: number;
}

/** All numbers that there are here, in steps of a half. What is open ends beyond the values of searches. */
const ALL = Array.from({ length: 161 }, (_, n) => n / 2 - 40);
const END = 20;

const value = fc.integer({ min: -END, max: END });
const intervals = fc
  .record({ low: fc.option(value, { nil: undefined }), length: fc.option(fc.nat(12), { nil: undefined }), high: value })
  .map(({ low, length, high }): Interval => {
    if (low === undefined) return length === undefined ? {} : { high };
    return length === undefined ? { low } : { low, high: low + length };
  });

/** The numbers of an interval, one by one. */
const members = ({ low = -Infinity, high = Infinity }: Interval): number[] => ALL.filter((x) => low <= x && x <= high);

const some = (set: readonly number[], is: (x: number) => boolean): boolean => set.some(is);
const every = (set: readonly number[], is: (x: number) => boolean): boolean => set.every(is);

/**
 * The table of the specification, read aloud, on sets: a number is in the search value's range, above it, or below it.
 * https://hl7.org/fhir/R5/search.html#prefix
 */
function words(prefix: Exclude<Prefix, 'ap'>, resource: readonly number[], low: number, high: number): boolean {
  const isIn = (x: number): boolean => low <= x && x <= high;
  const contains = every(resource, isIn);
  const reachesAbove = some(resource, (x) => x > high);
  const reachesBelow = some(resource, (x) => x < low);
  switch (prefix) {
    case 'eq':
      return contains;
    case 'ne':
      return !contains;
    case 'gt':
      return reachesAbove;
    case 'lt':
      return reachesBelow;
    case 'ge':
      return reachesAbove || contains;
    case 'le':
      return reachesBelow || contains;
    case 'sa':
      return !some(resource, isIn) && every(resource, (x) => x > high);
    case 'eb':
      return !some(resource, isIn) && every(resource, (x) => x < low);
  }
}

const WORDED = PREFIXES.filter((prefix): prefix is Exclude<Prefix, 'ap'> => prefix !== 'ap');

describe('dates, by the words of the specification (search.html#prefix)', () => {
  const finds = (prefix: Prefix, span: { low: number; high: number }, resource: Interval, now = 0): boolean =>
    dateEnds(prefix, span, now).some((ends) => isWithin(resource, ends));
  const spans = fc.record({ low: value, length: fc.nat(6) }).map(({ low, length }) => ({ low, high: low + length }));

  it.each(WORDED)('%s', (prefix) => {
    fc.assert(
      fc.property(spans, intervals, (span, resource) => {
        expect(finds(prefix, span, resource)).toBe(words(prefix, members(resource), span.low, span.high));
      }),
      { numRuns: 300 },
    );
  });

  it('ap: overlaps what is widened by a tenth of the distance from now', () => {
    fc.assert(
      fc.property(spans, intervals, fc.integer({ min: -60, max: 60 }), (span, resource, now) => {
        const slack = Math.floor(Math.abs(now - (span.low + span.high) / 2) / 10);
        const isNear = (x: number): boolean => span.low - slack <= x && x <= span.high + slack;
        expect(finds('ap', span, resource, now)).toBe(some(members(resource), isNear));
      }),
      { numRuns: 300 },
    );
  });

  it('laws', () => {
    fc.assert(
      fc.property(spans, intervals, (span, resource) => {
        const is = Object.fromEntries(PREFIXES.map((prefix) => [prefix, finds(prefix, span, resource)]));
        expect(is['ne']).toBe(!is['eq']);
        expect(is['ge']).toBe(is['gt'] || is['eq']);
        expect(is['le']).toBe(is['lt'] || is['eq']);
        // What is not above, not below and not within overlaps an end.
        expect(is['gt'] || is['lt'] || is['eq']).toBe(true);
        if (is['sa']) expect([is['gt'], is['lt'], is['eq'], is['eb']]).toEqual([true, false, false, false]);
        if (is['eb']) expect([is['gt'], is['lt'], is['eq'], is['sa']]).toEqual([false, true, false, false]);
      }),
      { numRuns: 300 },
    );
  });
});

describe('numbers and quantities, by the words of the specification', () => {
  const finds = (prefix: Prefix, text: string, resource: Interval): boolean =>
    numberEnds(prefix, readPrecise(text)!).some((ends) => isWithin(resource, ends));
  const at = (x: number): Interval => ({ low: x, high: x });

  it.each(WORDED)('%s of a point', (prefix) => {
    fc.assert(
      fc.property(value, fc.constantFrom(...ALL), (n, x) => {
        // Precision counts for two of them: half a unit to either side, the upper end without.
        const isPrecise = prefix === 'eq' || prefix === 'ne';
        const isIn = isPrecise ? n - 0.5 <= x && x < n + 0.5 : x === n;
        const expected = isPrecise ? isIn === (prefix === 'eq') : words(prefix, [x], n, n);
        expect(finds(prefix, String(n), at(x))).toBe(expected);
      }),
      { numRuns: 300 },
    );
  });

  it('of an interval: eq and ne whether all of it rounds to the value, the others whether some or all lies so', () => {
    fc.assert(
      fc.property(value, intervals, (n, resource) => {
        const all = members(resource);
        const expected: Record<Exclude<Prefix, 'ap'>, boolean> = {
          eq: every(all, (x) => n - 0.5 <= x && x < n + 0.5),
          ne: !every(all, (x) => n - 0.5 <= x && x < n + 0.5),
          gt: some(all, (x) => x > n),
          lt: some(all, (x) => x < n),
          ge: some(all, (x) => x >= n),
          le: some(all, (x) => x <= n),
          sa: every(all, (x) => x > n),
          eb: every(all, (x) => x < n),
        };
        for (const prefix of WORDED) expect(finds(prefix, String(n), resource), prefix).toBe(expected[prefix]);
      }),
      { numRuns: 300 },
    );
  });

  it('ap: overlaps a tenth of the value, or its precision where that is more', () => {
    fc.assert(
      fc.property(value, intervals, (n, resource) => {
        const slack = Math.max(Math.abs(n) / 10, 0.5);
        const found = finds('ap', String(n), resource);
        expect(found).toBe(some(members(resource), (x) => n - slack <= x && x <= n + slack));
        if (finds('eq', String(n), resource)) expect(found).toBe(true);
      }),
      { numRuns: 300 },
    );
  });

  it('laws, whatever the text of the number', () => {
    const texts = fc
      .tuple(
        fc.constantFrom('', '-', '+'),
        fc.nat(99999),
        fc.stringMatching(/^(\.\d{1,4})?$/),
        fc.stringMatching(/^([eE][+-]?[0-5])?$/),
      )
      .map((parts) => parts.join(''));
    fc.assert(
      fc.property(texts, texts, (text, other) => {
        const x = Number(other);
        const is = Object.fromEntries(PREFIXES.map((prefix) => [prefix, finds(prefix, text, at(x))]));
        expect(is['ne']).toBe(!is['eq']);
        expect([is['gt'], is['lt']]).toEqual([is['sa'], is['eb']]);
        expect(is['le']).toBe(!is['gt']);
        expect(is['ge']).toBe(!is['lt']);
        // Whatever is written, the same number is found, in every spelling.
        for (const prefix of ['eq', 'ge', 'le', 'ap'] as const)
          expect(finds(prefix, text, at(Number(text)))).toBe(true);
      }),
      { numRuns: 300 },
    );
  });
});

describe('precision of a number (search.html#number)', () => {
  it.each([
    ['100', 99.5, 100.5],
    ['100.00', 99.995, 100.005],
    ['1e2', 50, 150],
    ['1.0e2', 95, 105],
    ['-5', -5.5, -4.5],
    ['0', -0.5, 0.5],
    ['0.1', 0.05, 0.15],
    ['5.4e-3', 0.00535, 0.00545],
    ['+7', 6.5, 7.5],
  ])('%s', (text, low, high) => {
    expect(readPrecise(text)).toEqual({ value: Number(text), low, high });
  });

  it.each(['', ' ', '1 ', 'x', '1.', '.5', '1e', '0x10', 'Infinity', 'NaN', '1,5', '--1', '١', '1_000'])(
    'not %j',
    (text) => {
      expect(readPrecise(text)).toBeUndefined();
    },
  );

  it('of one beyond the doubles begins at the greatest of them', () => {
    const { MAX_VALUE } = Number;
    expect(readPrecise('1e999')).toEqual({ value: MAX_VALUE, low: MAX_VALUE, high: Infinity });
  });

  it('is half of the last digit, which exact decimals tell', () => {
    fc.assert(
      fc.property(fc.integer({ min: -1e6, max: 1e6 }), fc.nat(6), (digits, decimals) => {
        const text = (digits / 10 ** decimals).toFixed(decimals);
        const { low, high } = readPrecise(text)!;
        // Through integers, where nothing is lost.
        expect(Math.round(low * 10 ** (decimals + 1))).toBe(digits * 10 - 5);
        expect(Math.round(high * 10 ** (decimals + 1))).toBe(digits * 10 + 5);
      }),
      { numRuns: 300 },
    );
  });

  it('numbers that differ in the last digit share no value, and leave none out', () => {
    fc.assert(
      fc.property(fc.integer({ min: -1e6, max: 1e6 }), fc.nat(6), (digits, decimals) => {
        const text = (n: number): string => {
          const shown = String(Math.abs(n)).padStart(decimals + 1, '0');
          const at = shown.length - decimals;
          return `${n < 0 ? '-' : ''}${shown.slice(0, at)}${decimals > 0 ? '.' : ''}${shown.slice(at)}`;
        };
        expect(readPrecise(text(digits))!.high).toBe(readPrecise(text(digits + 1))!.low);
      }),
      { numRuns: 300 },
    );
  });
});
