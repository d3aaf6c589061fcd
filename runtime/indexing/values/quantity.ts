import type { CanonicalQuantity, IndexEntry, QuantityEntry } from '../entry.js';
import type { Converters } from './converter.js';
import { numberOf, objectOf, textOf } from './json.js';
import { canonicalUnit, toCanonical } from '../../fhir/ucum/canonical.js';
import { nextAbove, nextBelow, toFinite } from './next-double.js';
import { sampledSpan } from './sampled-data.js';
import { UCUM } from '../../fhir/ucum/system.js';

/** What currencies are codes of. https://hl7.org/fhir/R5/datatypes.html#Money */
const CURRENCIES = 'urn:iso:std:iso:4217';

/**
 * Entries of quantity parameters. https://hl7.org/fhir/R5/search.html#quantity
 *
 * A Range is one interval, also where its low end is above the high one; with ends in different units, the two ends. A comparator in the value makes it an
 * interval open at one side, without the value itself for `<` and `>` (`ad` does not). SampledData is the interval between its lowest and highest point, as
 * the descriptions of its parameters ask.
 */
export const quantityConverters: Converters = {
  Quantity: ({ param }) => {
    return (value, { out }) => {
      pushQuantity(out, param, value);
    };
  },
  Money: ({ param }) => {
    return (value, { out }) => {
      const money = objectOf(value);
      const amount = numberOf(money?.['value']);
      const code = textOf(money?.['currency']);
      if (amount === undefined) return;
      out.push(entryOf(param, amount, NO_ENDS, code === undefined ? {} : { system: CURRENCIES, code }));
    };
  },
  Range: ({ param }) => {
    return (value, { out }) => {
      pushRange(out, param, value);
    };
  },
  SampledData: ({ param }) => {
    return (value, { out }) => {
      const span = sampledSpan(value);
      if (span !== undefined) {
        push(out, entryOf(param, span.low, span, unitOf(objectOf(objectOf(value)?.['origin']))));
      }
    };
  },
};

type Json = Readonly<Record<string, unknown>>;
type Unit = Pick<QuantityEntry, 'system' | 'code' | 'unit'>;
type Ends = Pick<QuantityEntry, 'low' | 'high'>;
type Writable<T> = { -readonly [K in keyof T]: T[K] };

// Members are assigned one by one: an Observation has many quantities, and to spread objects takes several times as long.

function unitOf(quantity: Json | undefined): Unit {
  const system = textOf(quantity?.['system']);
  const unit = textOf(quantity?.['unit']);
  const code = textOf(quantity?.['code']) ?? unit;
  const found: Writable<Unit> = {};
  if (system !== undefined) found.system = system;
  if (code !== undefined) found.code = code;
  if (unit !== undefined) found.unit = unit;
  return found;
}

function entryOf(param: string, value: number, { low, high }: Ends, { system, code, unit }: Unit): QuantityEntry {
  const entry: Writable<QuantityEntry> = { kind: 'quantity', param, value };
  if (low !== undefined) entry.low = low;
  if (high !== undefined) entry.high = high;
  if (system !== undefined) entry.system = system;
  if (code !== undefined) entry.code = code;
  if (unit !== undefined) entry.unit = unit;
  return entry;
}

const NO_ENDS: Ends = {};

function pushQuantity(out: IndexEntry[], param: string, value: unknown): void {
  const quantity = objectOf(value);
  const amount = numberOf(quantity?.['value']);
  if (quantity === undefined || amount === undefined) return;
  const comparator = textOf(quantity['comparator']);
  const ends = (point: number): Ends => (comparator === undefined ? NO_ENDS : openInterval(comparator, point));
  push(out, entryOf(param, amount, ends(amount), unitOf(quantity)), ends);
}

/**
 * Adds an entry, with the same in the canonical unit where there is one.
 *
 * @param endsOf the ends around a value; absent: they are converted as the value is
 */
function push(out: IndexEntry[], entry: Writable<QuantityEntry>, endsOf?: (point: number) => Ends): void {
  const unit = entry.system === UCUM && entry.code !== undefined ? canonicalUnit(entry.code) : undefined;
  if (unit === undefined) {
    out.push(entry);
    return;
  }
  const convert = (point: number): number => toFinite(toCanonical(point, unit));
  const convertEnd = (point: number | undefined): number | undefined =>
    point === undefined ? undefined : convert(point);
  const value = convert(entry.value);
  const canonical: Writable<CanonicalQuantity> = { unit: unit.unit, value };
  const { low, high } = endsOf?.(value) ?? { low: convertEnd(entry.low), high: convertEnd(entry.high) };
  if (low !== undefined) canonical.low = low;
  if (high !== undefined) canonical.high = high;
  entry.canonical = canonical;
  out.push(entry);
}

/** What a comparator says. Ends lie within, so those of `<` and `>` are the numbers next to the value. */
function openInterval(comparator: string, point: number): Ends {
  switch (comparator) {
    case '<':
      return { high: nextBelow(point) };
    case '<=':
      return { high: point };
    case '>':
      return { low: nextAbove(point) };
    case '>=':
      return { low: point };
    default:
      return {};
  }
}

function pushRange(out: IndexEntry[], param: string, value: unknown): void {
  const range = objectOf(value);
  const lowEnd = objectOf(range?.['low']);
  const highEnd = objectOf(range?.['high']);
  const low = numberOf(lowEnd?.['value']);
  const high = numberOf(highEnd?.['value']);
  const unit = unitOf(low === undefined ? highEnd : lowEnd);
  if (low !== undefined && high !== undefined) {
    if (!sameUnit(unit, unitOf(highEnd))) {
      pushQuantity(out, param, lowEnd);
      pushQuantity(out, param, highEnd);
    } else {
      const [least, most] = [Math.min(low, high), Math.max(low, high)];
      push(out, entryOf(param, least, { low: least, high: most }, unit));
    }
    return;
  }
  const point = low ?? high;
  if (point === undefined) return;
  const end = low === undefined ? { high: point } : { low: point };
  push(out, entryOf(param, point, end, unit));
}

function sameUnit(a: Unit, b: Unit): boolean {
  return a.system === b.system && a.code === b.code;
}
