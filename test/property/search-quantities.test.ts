import fc from 'fast-check';
import { describe, expect, it } from 'vitest';

import { OwnBases } from '../../runtime/path/own-bases.js';
import { tables } from '../../generated/tables.js';
import { createExtractor } from '../../runtime/indexing/extract.js';
import { parametersOf } from '../../runtime/indexing/parameters-of.js';
import { matches } from '../../runtime/search/query/match.js';
import { parseCriterion } from '../../runtime/search/parse/parse-criterion.js';
import { utc } from '../../runtime/indexing/values/zone.js';

const UCUM = 'http://unitsofmeasure.org';
const extract = createExtractor(tables);
const rows = parametersOf('Observation', new Map(tables.search.map((table) => [table.type, table])));
const context = { rows, isResourceType: () => false, zone: utc, own: new OwnBases(), now: 0, maxAlternatives: 1 };

interface Quantity {
  readonly value: number;
  readonly comparator?: string;
  readonly code?: string;
  readonly system?: string;
  readonly unit?: string;
}

function finds(criterion: string, valueQuantity: Quantity): boolean {
  const entries = extract({ resourceType: 'Observation', id: 'o', valueQuantity });
  return matches(parseCriterion('value-quantity', criterion, context), { id: 'o', lastUpdated: 0, entries });
}

/** Units of one dimension, as whole multiples of the smallest of them. */
const FAMILIES: readonly (readonly (readonly [code: string, multiple: bigint])[])[] = [
  [['ng', 1n], ['ug', 1_000n], ['mg', 1_000_000n], ['g', 1_000_000_000n], ['kg', 1_000_000_000_000n]], // prettier-ignore
  [['ms', 1n], ['s', 1000n], ['min', 60_000n], ['h', 3_600_000n], ['d', 86_400_000n], ['wk', 604_800_000n]], // prettier-ignore
  [['uL', 1n], ['mL', 1000n], ['cm3', 1000n], ['dL', 100_000n], ['L', 1_000_000n], ['m3', 1_000_000_000n]], // prettier-ignore
  [['mg/L', 1n], ['ug/mL', 1n], ['mg/dL', 10n], ['g/L', 1000n], ['kg/m3', 1000n], ['g/mL', 1_000_000n]], // prettier-ignore
  [['/min', 1n], ['{beats}/min', 1n], ['/s', 60n], ['Hz', 60n], ['kHz', 60_000n]], // prettier-ignore
  [
    ['mm[Hg]', 1n],
    ['cm[Hg]', 10n],
    ['m[Hg]', 1000n],
  ],
];

/** A decimal, `digits` / 10 ^ `places`, and what a search writes for it. */
interface Decimal {
  readonly digits: bigint;
  readonly places: number;
  readonly text: string;
}

const decimals = fc.tuple(fc.integer({ min: -2000, max: 2000 }), fc.nat(3)).map(([digits, places]): Decimal => ({
  digits: BigInt(digits),
  places,
  text: (digits / 10 ** places).toFixed(places),
}));

/** Compares exactly: tenths of the last digit, so that the bounds of a precision are whole too. */
const scaled = ({ digits, places }: Decimal, multiple: bigint, more = 0n): bigint =>
  (digits * 10n + more) * multiple * 10n ** BigInt(10 - places);

describe('quantities in different units (search.html#quantity)', () => {
  const units = fc
    .constantFrom(...FAMILIES)
    .chain((family) => fc.tuple(fc.constantFrom(...family), fc.constantFrom(...family)));
  /** Values that often are the same in the other unit, or next to it. */
  const pairs = fc.tuple(units, decimals, decimals, fc.constantFrom('free', 'same', 'low', 'high'));

  it('compare as their exact values do', () => {
    fc.assert(
      fc.property(pairs, ([[[unit, multiple], [asked, askedMultiple]], drawn, criterion, how]) => {
        let value = drawn;
        // Where the asked value is a decimal in the recorded unit, take that, or an end of its precision.
        const end = how === 'low' ? -5n : how === 'high' ? 5n : 0n;
        const exact = (criterion.digits * 10n + end) * askedMultiple;
        if (how !== 'free' && exact % multiple === 0n) {
          const digits = exact / multiple;
          value = { digits, places: criterion.places + 1, text: String(Number(digits) / 10 ** (criterion.places + 1)) };
        }
        const recorded = { value: Number(value.text), system: UCUM, code: unit };
        const [x, n] = [scaled(value, multiple), scaled(criterion, askedMultiple)];
        const [low, high] = [scaled(criterion, askedMultiple, -5n), scaled(criterion, askedMultiple, 5n)];
        const text = `${criterion.text}|${UCUM}|${asked}`;
        const what = `${value.text} ${unit} by ${text}`;
        expect(finds(text, recorded), what).toBe(low <= x && x < high);
        expect(finds(`ne${text}`, recorded), `ne ${what}`).toBe(!(low <= x && x < high));
        expect(finds(`gt${text}`, recorded), `gt ${what}`).toBe(x > n);
        expect(finds(`ge${text}`, recorded), `ge ${what}`).toBe(x >= n);
        expect(finds(`lt${text}`, recorded), `lt ${what}`).toBe(x < n);
        expect(finds(`le${text}`, recorded), `le ${what}`).toBe(x <= n);
      }),
      { numRuns: 1500 },
    );
  });

  it('of different dimensions never meet', () => {
    const two = fc.constantFrom(...FAMILIES.keys()).chain((a) =>
      fc
        .constantFrom(...FAMILIES.keys())
        .filter((b) => b !== a)
        .map((b) => [FAMILIES[a]!, FAMILIES[b]!] as const),
    );
    fc.assert(
      fc.property(
        two,
        decimals,
        fc.nat(10),
        fc.constantFrom('', 'gt', 'lt', 'ge', 'le', 'ne', 'ap'),
        ([a, b], { text }, n, prefix) => {
          const recorded = { value: Number(text), system: UCUM, code: a[n % a.length]![0] };
          expect(finds(`${prefix}${text}|${UCUM}|${b[n % b.length]![0]}`, recorded)).toBe(false);
        },
      ),
      { numRuns: 300 },
    );
  });

  it('with a comparator reach as far as it says, the value itself or up to it', () => {
    const comparators = fc.constantFrom('<', '<=', '>', '>=');
    fc.assert(
      fc.property(comparators, decimals, fc.constantFrom('mg', 'g', 'kg', undefined), (comparator, { text }, code) => {
        const recorded = { value: Number(text), comparator, ...(code !== undefined && { code, system: UCUM }) };
        const unit = code === undefined ? '' : `|${UCUM}|${code}`;
        const [isBelow, isWith] = [comparator.startsWith('<'), comparator.endsWith('=')];
        expect(finds(`lt${text}${unit}`, recorded)).toBe(isBelow);
        expect(finds(`gt${text}${unit}`, recorded)).toBe(!isBelow);
        expect(finds(`le${text}${unit}`, recorded)).toBe(isBelow || isWith);
        expect(finds(`ge${text}${unit}`, recorded)).toBe(!isBelow || isWith);
        expect(finds(`eb${text}${unit}`, recorded)).toBe(isBelow && !isWith);
        expect(finds(`sa${text}${unit}`, recorded)).toBe(!isBelow && !isWith);
        expect(finds(`${text}${unit}`, recorded)).toBe(false);
      }),
      { numRuns: 300 },
    );
  });

  it.each([
    ['37|http://unitsofmeasure.org|Cel', { value: 310.15, code: 'K' }, true],
    ['310.15|http://unitsofmeasure.org|K', { value: 37, code: 'Cel' }, true],
    ['98.6|http://unitsofmeasure.org|[degF]', { value: 37, code: 'Cel' }, true],
    ['98.6|http://unitsofmeasure.org|[degF]', { value: 38, code: 'Cel' }, false],
    ['gt0|http://unitsofmeasure.org|Cel', { value: 273.15, code: 'K' }, false],
    ['ge0|http://unitsofmeasure.org|Cel', { value: 273.15, code: 'K' }, true],
    // A tenth of 37 degrees, not of 310 kelvins.
    ['ap37|http://unitsofmeasure.org|Cel', { value: 45, code: 'Cel' }, false],
    ['ap37|http://unitsofmeasure.org|Cel', { value: 40, code: 'Cel' }, true],
  ])('temperatures: %s', (criterion, quantity, isFound) => {
    expect(finds(criterion, { ...quantity, system: UCUM })).toBe(isFound);
  });

  it('units that UCUM does not convert compare with themselves alone, as recorded', () => {
    const recorded = { value: 7.4, system: UCUM, code: '[pH]', unit: 'pH' };
    expect(finds(`7.4|${UCUM}|[pH]`, recorded)).toBe(true);
    expect(finds('7.4||pH', recorded)).toBe(true);
    expect(finds(`7.4|${UCUM}|1`, recorded)).toBe(false);
    expect(finds('7.4|urn:x|[pH]', recorded)).toBe(false);
    expect(finds('7.4', recorded)).toBe(true);
  });
});
