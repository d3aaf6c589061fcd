import type { IndexEntry, QuantityEntry } from '../entry.js';
import type { Converters } from './converter.js';
import { numberOf, objectOf, textOf } from './json.js';
import { canonicalUnit, toCanonical } from './ucum/canonical.js';
import { sampledSpan } from './sampled-data.js';

/** What currencies are codes of. https://hl7.org/fhir/R5/datatypes.html#Money */
const CURRENCIES = 'urn:iso:std:iso:4217';

/** The system of units that can be converted. https://hl7.org/fhir/R5/datatypes.html#Quantity */
export const UCUM = 'http://unitsofmeasure.org';

/**
 * Entries of quantity parameters. https://hl7.org/fhir/R5/search.html#quantity
 *
 * A Range is one interval; with ends in different units, the two ends. A comparator in the value makes it an
 * interval open at one side (`ad` does not). SampledData is the interval between its lowest and highest point, as
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
      out.push({ kind: 'quantity', param, value: amount, ...(code !== undefined && { system: CURRENCIES, code }) });
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
        push(out, {
          kind: 'quantity',
          param,
          value: span.low,
          ...span,
          ...unitOf(objectOf(objectOf(value)?.['origin'])),
        });
      }
    };
  },
};

type Json = Readonly<Record<string, unknown>>;
type Unit = Pick<QuantityEntry, 'system' | 'code' | 'unit'>;

function unitOf(quantity: Json | undefined): Unit {
  const system = textOf(quantity?.['system']);
  const unit = textOf(quantity?.['unit']);
  const code = textOf(quantity?.['code']) ?? unit;
  return {
    ...(system !== undefined && { system }),
    ...(code !== undefined && { code }),
    ...(unit !== undefined && { unit }),
  };
}

function pushQuantity(out: IndexEntry[], param: string, value: unknown): void {
  const quantity = objectOf(value);
  const amount = numberOf(quantity?.['value']);
  if (quantity === undefined || amount === undefined) return;
  const comparator = textOf(quantity['comparator']);
  push(out, {
    kind: 'quantity',
    param,
    value: amount,
    ...(comparator !== undefined && openInterval(comparator, amount)),
    ...unitOf(quantity),
  });
}

/** Adds an entry, with the same in the canonical unit where there is one. */
function push(out: IndexEntry[], entry: QuantityEntry): void {
  const unit = entry.system === UCUM && entry.code !== undefined ? canonicalUnit(entry.code) : undefined;
  if (unit === undefined) {
    out.push(entry);
    return;
  }
  const { value, low, high } = entry;
  const canonical = {
    unit: unit.unit,
    value: toCanonical(value, unit),
    ...(low !== undefined && { low: toCanonical(low, unit) }),
    ...(high !== undefined && { high: toCanonical(high, unit) }),
  };
  out.push({ ...entry, canonical });
}

function openInterval(comparator: string, amount: number): { low?: number; high?: number } {
  if (comparator.startsWith('<')) return { high: amount };
  return comparator.startsWith('>') ? { low: amount } : {};
}

function pushRange(out: IndexEntry[], param: string, value: unknown): void {
  const range = objectOf(value);
  const lowEnd = objectOf(range?.['low']);
  const highEnd = objectOf(range?.['high']);
  const low = numberOf(lowEnd?.['value']);
  const high = numberOf(highEnd?.['value']);
  const point = low ?? high;
  if (point === undefined) return;
  const unit = unitOf(low === undefined ? highEnd : lowEnd);
  if (low !== undefined && high !== undefined) {
    if (!sameUnit(unit, unitOf(highEnd))) {
      pushQuantity(out, param, lowEnd);
      pushQuantity(out, param, highEnd);
      return;
    }
    if (low > high) return;
  }
  push(out, {
    kind: 'quantity',
    param,
    value: point,
    ...(low !== undefined && { low }),
    ...(high !== undefined && { high }),
    ...unit,
  });
}

function sameUnit(a: Unit, b: Unit): boolean {
  return a.system === b.system && a.code === b.code;
}
