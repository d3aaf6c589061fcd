import { nextAbove, toFinite } from '../../indexing/values/next-double.js';
import type { Interval, Ends } from './query.js';

/** Prefixes of dates, numbers and quantities. https://hl7.org/fhir/R5/search.html#prefix */
export const PREFIXES = ['eq', 'ne', 'gt', 'lt', 'ge', 'le', 'sa', 'eb', 'ap'] as const;

/** One of them. */
export type Prefix = (typeof PREFIXES)[number];

/** The prefix of a value, `eq` where it has none, and the rest. */
export function splitPrefix(text: string): { readonly prefix: Prefix; readonly rest: string } {
  const prefix = PREFIXES.find((each) => text.startsWith(each));
  return prefix === undefined ? { prefix: 'eq', rest: text } : { prefix, rest: text.slice(2) };
}

/** Whether a value has one. */
export function hasPrefix(text: string): boolean {
  return PREFIXES.some((each) => text.startsWith(each));
}

/** An interval that a date of a search stands for, both ends within. */
interface Span {
  readonly low: number;
  readonly high: number;
}

/**
 * Returns alternatives, one of which an entry has to fulfil to compare with a date by a prefix. In the words of the
 * specification: `eq` is that the value's interval contains the entry's, `gt` that the range above the value's interval
 * overlaps the entry's, `sa` that the entry's interval is wholly above. `ap` widens the value's interval by a tenth of
 * its distance from now at both ends.
 *
 * @param now milliseconds since the epoch
 */
export function dateEnds(prefix: Prefix, { low, high }: Span, now: number): readonly Ends[] {
  const within: Ends = { low: { gte: low }, high: { lte: high } };
  switch (prefix) {
    case 'eq':
      return [within];
    case 'ne':
      return [{ low: { lt: low } }, { high: { gt: high } }];
    case 'gt':
      return [{ high: { gt: high } }];
    case 'lt':
      return [{ low: { lt: low } }];
    case 'ge':
      return [{ high: { gt: high } }, within];
    case 'le':
      return [{ low: { lt: low } }, within];
    case 'sa':
      return [{ low: { gt: high } }];
    case 'eb':
      return [{ high: { lt: low } }];
    case 'ap': {
      const slack = Math.floor(Math.abs(now - (low + high) / 2) / 10);
      return [{ low: { lte: high + slack }, high: { gte: low - slack } }];
    }
  }
}

/** A number of a search: its value, and the interval of all that round to it at its precision. */
export interface Precise {
  readonly value: number;
  /** Within. */
  readonly low: number;
  /** Without. */
  readonly high: number;
}

const NUMBER = /^([+-]?)(\d+)(?:\.(\d+))?(?:[eE]([+-]?\d{1,9}))?$/;

/**
 * Reads a number as its digits tell: `100` is all from 99.5 up to 100.5, `100.00` from 99.995, `1e2` from 50 up to 150.
 * What exceeds a double counts as the greatest one. Undefined for text that is none. https://hl7.org/fhir/R5/search.html#number
 */
export function readPrecise(text: string): Precise | undefined {
  const match = NUMBER.exec(text);
  if (match === null || text.length > 400) return undefined;
  const [, sign = '', whole = '', decimals = '', exponent = '0'] = match;
  const digits = BigInt(`${whole}${decimals}`) * (sign === '-' ? -1n : 1n);
  const scale = Number(exponent) - decimals.length - 1;
  // From text, so that each bound is the double nearest to it, as the values of entries are.
  const at = (tenths: bigint): number => toFinite(Number(`${tenths}e${scale}`));
  const value = toFinite(Number(text));
  return aroundValue({ value, low: at(digits * 10n - 5n), high: at(digits * 10n + 5n) });
}

/**
 * Widens the bounds of a number so that its value is within them. Where doubles cannot distinguish the bounds of a very
 * precise number, its interval is the value alone.
 */
export function aroundValue({ value, low, high }: Precise): Precise {
  return { value, low: Math.min(low, value), high: high > value ? high : nextAbove(value) };
}

/**
 * Returns alternatives, one of which an entry has to fulfil to compare with a number by a prefix. Precision counts for
 * `eq` and `ne` only; `ap` is a tenth of the value to both sides, or its precision where that is more.
 */
export function numberEnds(prefix: Prefix, { value, low, high }: Precise): readonly Ends[] {
  switch (prefix) {
    case 'eq':
      return [{ low: { gte: low }, high: { lt: high } }];
    case 'ne':
      return [{ low: { lt: low } }, { high: { gte: high } }];
    case 'gt':
      return [{ high: { gt: value } }];
    case 'lt':
      return [{ low: { lt: value } }];
    case 'ge':
      return [{ high: { gte: value } }];
    case 'le':
      return [{ low: { lte: value } }];
    case 'sa':
      return [{ low: { gt: value } }];
    case 'eb':
      return [{ high: { lt: value } }];
    case 'ap': {
      const tenth = Math.abs(value) / 10;
      return [{ low: { lte: Math.max(high, value + tenth) }, high: { gte: Math.min(low, value - tenth) } }];
    }
  }
}

/** Converts the numbers of bounds. `convert` has to keep their order. */
export function mapEnds({ low, high }: Ends, convert: (value: number) => number): Ends {
  const map = (bounds: Interval): Interval =>
    Object.fromEntries(Object.entries(bounds).map(([name, value]) => [name, convert(value as number)]));
  return { ...(low !== undefined && { low: map(low) }), ...(high !== undefined && { high: map(high) }) };
}
