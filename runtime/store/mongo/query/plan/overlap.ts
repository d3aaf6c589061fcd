import type { Document } from 'mongodb';

import { DATE_WIDTHS, NUMBER_WIDTHS, spanParam } from '../../bson/spans.js';
import { entryAccess, type Access } from './access.js';
import { hasBound, boundsAround, isClosed, tightest, lower, upper, type Bounds } from './bounds.js';
import type { Plan } from './plan.js';
import type { Range, Value } from '../compile/row-test.js';
import { rangeMatch } from '../compile/row-match.js';
import { toRowTests } from '../compile/row-tests.js';

type Kind = 'date' | 'number';

/** A way to what fulfils several conditions at once, and the filter that goes by it; they are to be asked too. */
interface Overlap {
  readonly filter: Document;
  readonly access: Access;
  /** Places of the conditions. */
  readonly of: readonly number[];
}

/** Tests of intervals. */
const OF_ENDS: ReadonlySet<string> = new Set(['date', 'number', 'quantity']);

/**
 * Ways to what ends after one instant and begins before another, as conditions on one parameter ask for together: each of them by
 * itself may be fulfilled by half of all there is.
 */
export function overlaps(type: string, conditions: readonly Plan[]): Overlap[] {
  const byParam = new Map<string, { kind: Kind; p: string; bounds: Bounds[]; of: number[] }>();
  for (const [place, condition] of conditions.entries()) {
    // What else is in a list would not be fulfilled by such a range; and lists of texts can be long.
    if (!('any' in condition) || !condition.any.every(({ is }) => OF_ENDS.has(is))) continue;
    const tests = condition.any.flatMap((test) => toRowTests(condition.param, test));
    const [first] = tests;
    if (first === undefined || tests.some((test) => test.kind !== first.kind || test.p !== first.p)) continue;
    const { kind, p } = first;
    if (kind !== 'date' && kind !== 'number') continue;
    const same = byParam.get(p) ?? { kind, p, bounds: [], of: [] };
    byParam.set(p, same);
    same.bounds.push(boundsAround(tests.map(({ fields }) => fields)));
    same.of.push(place);
  }
  return [...byParam.values()].flatMap(({ kind, p, bounds, of }) => {
    // The index has what such a condition asks for in one range.
    if (bounds.some(({ low }) => isClosed(low))) return [];
    const from = bounds.map(({ high }) => lower(high)).reduce(tightest);
    const to = bounds.map(({ low }) => upper(low)).reduce(tightest);
    if (!hasBound(from) || !hasBound(to)) return [];
    return [toOverlap(type, kind, p, from, to, of)];
  });
}

/** Narrow spans by where they begin, wide ones by where theirs can begin, the widest wherever they begin before the end. */
function toOverlap(type: string, kind: Kind, p: string, from: Range, to: Range, of: readonly number[]): Overlap {
  const widths = kind === 'date' ? DATE_WIDTHS : NUMBER_WIDTHS;
  const pieces = [
    ...widths.map((width, i) => ({ p: i === 0 ? p : spanParam(p, i), low: { ...shifted(from, width), ...to } })),
    { p: spanParam(p, widths.length), low: to },
  ];
  const filters = pieces.map((piece, i) => ({
    [kind]: { $elemMatch: { p: piece.p, low: rangeMatch(piece.low), ...(i > 0 && { high: rangeMatch(from) }) } },
  }));
  const arms = pieces.flatMap((piece) => entryAccess(type, kind, piece.p, { ranges: [piece.low] }).arms);
  return { filter: { $or: filters }, access: { arms }, of };
}

/** Bounds that much lower. */
function shifted(range: Range, width: number): Range {
  const shift = (value: Value): Value =>
    value instanceof Date ? new Date(Math.max(value.getTime() - width, -8.64e15)) : Number(value) - width;
  return Object.fromEntries(Object.entries(range).map(([name, value]) => [name, shift(value as Value)]));
}
