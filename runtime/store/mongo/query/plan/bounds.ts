import { compareText } from '../../../../search/query/compare-text.js';
import type { FieldTests, Range, Value } from '../compile/row-test.js';

/** The ends of rows that tests allow. */
export interface Bounds {
  readonly low: Range;
  readonly high: Range;
}

/** The ends that fulfil these tests. No low end is above its high end, so limits of one also limit the other. */
export function endsOf(fields: FieldTests): Bounds {
  const [low, high] = [rangeOf(fields, 'low'), rangeOf(fields, 'high')];
  return {
    low: { ...lower(low), ...tighter(upper(low), upper(high), -1) },
    high: { ...upper(high), ...tighter(lower(high), lower(low), 1) },
  };
}

/** The least ranges with those of all alternatives within. */
export function boundsAround(alternatives: readonly FieldTests[]): Bounds {
  const all = alternatives.map(endsOf);
  return {
    low: all.map(({ low }) => low).reduce(around),
    high: all.map(({ high }) => high).reduce(around),
  };
}

function rangeOf(fields: FieldTests, name: string): Range {
  const test = fields[name];
  return test !== undefined && 'range' in test ? normal(test.range) : {};
}

/** At most one bound on each side. */
function normal(range: Range): Range {
  const { gt, gte, lt, lte } = range;
  return {
    ...tighter(gt === undefined ? {} : { gt }, gte === undefined ? {} : { gte }, 1),
    ...tighter(lt === undefined ? {} : { lt }, lte === undefined ? {} : { lte }, -1),
  };
}

/** The lower bound alone. */
export function lower({ gt, gte }: Range): Range {
  return gt !== undefined ? { gt } : gte !== undefined ? { gte } : {};
}

/** The upper bound alone. */
export function upper({ lt, lte }: Range): Range {
  return lt !== undefined ? { lt } : lte !== undefined ? { lte } : {};
}

function boundOf({ gt, gte, lt, lte }: Range): { readonly value: Value; readonly isStrict: boolean } | undefined {
  const strict = gt ?? lt;
  if (strict !== undefined) return { value: strict, isStrict: true };
  const within = gte ?? lte;
  return within === undefined ? undefined : { value: within, isStrict: false };
}

/** Returns the stricter of two bounds of one side, both lower or both upper ones. */
export function tightest(a: Range, b: Range): Range {
  return tighter(a, b, a.gt !== undefined || a.gte !== undefined ? 1 : -1);
}

/** Of two bounds of one side the one that allows less; sign 1: lower bounds. */
function tighter(a: Range, b: Range, sign: 1 | -1): Range {
  const [left, right] = [boundOf(a), boundOf(b)];
  if (left === undefined) return b;
  if (right === undefined) return a;
  const order = compare(left.value, right.value) * sign;
  return order > 0 || (order === 0 && left.isStrict) ? a : b;
}

function around(a: Range, b: Range): Range {
  return { ...wider(lower(a), lower(b), 1), ...wider(upper(a), upper(b), -1) };
}

/** Of two bounds of one side the one that allows more. */
function wider(a: Range, b: Range, sign: 1 | -1): Range {
  if (boundOf(a) === undefined || boundOf(b) === undefined) return {};
  return tighter(a, b, sign) === a ? b : a;
}

/** Whether a range is empty. */
export function isEmpty(range: Range): boolean {
  const [from, to] = [boundOf(lower(range)), boundOf(upper(range))];
  if (from === undefined || to === undefined) return false;
  const order = compare(from.value, to.value);
  return order > 0 || (order === 0 && (from.isStrict || to.isStrict));
}

function compare(a: Value, b: Value): number {
  if (typeof a === 'string' && typeof b === 'string') return compareText(a, b);
  return a < b ? -1 : a > b ? 1 : 0;
}

/** Whether there is a bound at all. */
export function hasBound(range: Range): boolean {
  return Object.keys(range).length > 0;
}

/** Whether both sides are bounded. */
export function isClosed(range: Range): boolean {
  return hasBound(lower(range)) && hasBound(upper(range));
}
