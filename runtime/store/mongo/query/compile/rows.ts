import type { Document } from 'mongodb';

import { foldingsOf } from '../../../../indexing/values/fold.js';
import { endParam } from '../../bson/spans.js';
import { entryAccess, type Access } from '../plan/access.js';
import { endsOf, hasBound, boundsAround, isClosed, lower, upper, type Bounds } from '../plan/bounds.js';
import { anyOf, type Compiled } from './compiled.js';
import { KEY_FIELD, type RowTests } from '../plan/merge.js';
import { hasRow } from './row-expression.js';
import { isMatchable, rangeMatch, toMatch } from './row-match.js';
import type { FieldTests, Range, Value } from './row-test.js';
import { beginnings, prefixRange } from './text.js';

/** So many alternatives each walk through their own piece of the index. */
const MAX_BRANCHES = 16;

/** Some row of some of these arrays and parameters fulfils some of their tests. */
export function compileRows(type: string, all: readonly RowTests[]): Compiled {
  return anyOf(all.map((tests) => compileArray(type, tests)));
}

function compileArray(type: string, tests: RowTests): Compiled {
  const { kind, p, alternatives } = tests;
  if (!alternatives.every(isMatchable)) {
    const filter = { $expr: hasRow(alternatives.map((fields) => ({ kind, p, fields }))) };
    return { filter: { $and: [{ [kind]: { $elemMatch: { p } } }, filter] }, ways: [wholeOf(type, tests)] };
  }
  return kind === 'date' || kind === 'number' ? compileEnds(type, tests, kind) : compileKeys(type, tests);
}

function wholeOf(type: string, { kind, p }: RowTests): Access {
  return entryAccess(type, kind, p, { ranges: [{}] });
}

/** Tests of texts: by values, or by beginnings. */
function compileKeys(type: string, tests: RowTests): Compiled {
  const { kind, p, alternatives } = tests;
  const keys = alternatives.map((fields) => keysOf(kind, fields));
  const values = keys.flatMap((each) => (each !== undefined && 'values' in each ? [each.values] : []));
  if (values.length === alternatives.length) {
    const all = [...new Set(values.flat())];
    const access = entryAccess(type, kind, p, { values: all });
    const isExact = isOfOne(alternatives, KEY_FIELD[kind]!);
    return { filter: oneElement(tests, { [KEY_FIELD[kind]!]: toMatchOf(all) }), ways: [{ ...access, isExact }] };
  }
  const isBounded = keys.every((each) => each !== undefined);
  if (!isBounded || keys.length > MAX_BRANCHES) {
    return { filter: oneElement(tests, {}), ways: [wholeOf(type, tests)] };
  }
  const ranges = keys.flatMap((each): readonly Range[] =>
    each === undefined ? [] : 'values' in each ? each.values.map((value) => ({ gte: value, lte: value })) : each.ranges,
  );
  const isExact = ranges.length === 1 && isOfOne(alternatives, KEY_FIELD[kind]!);
  return { filter: branches(tests), ways: [{ ...entryAccess(type, kind, p, { ranges }), isExact }] };
}

/** Whether rows are asked for one field by its order, and for no other: what a range of the index holds. */
function isOfOne(alternatives: readonly FieldTests[], name: string): boolean {
  const [only = {}] = alternatives;
  const test = only[name];
  const isKeyRange = test !== undefined && ('in' in test || 'range' in test);
  return isKeyRange && alternatives.length === 1 && Object.keys(only).length === 1;
}

type Keys = { readonly values: readonly Value[] } | { readonly ranges: readonly Range[] };

/** What the indexed field can be; undefined: anything. */
function keysOf(kind: RowTests['kind'], fields: FieldTests): Keys | undefined {
  const test = fields[KEY_FIELD[kind]!];
  if (test === undefined) {
    const text = fields['text'];
    return kind === 'string' && text !== undefined && 'in' in text ? { values: foldedOf(text.in) } : undefined;
  }
  if ('in' in test) return { values: test.in };
  if ('range' in test) return { ranges: [test.range] };
  const lower = 'beginsAnyCase' in test ? test.beginsAnyCase : 'equalsAnyCase' in test ? test.equalsAnyCase : undefined;
  return lower === undefined ? undefined : { ranges: beginnings(lower).heads.map(prefixRange) };
}

function foldedOf(texts: readonly Value[]): string[] {
  return [...new Set(texts.flatMap((text) => foldingsOf(String(text))))];
}

function toMatchOf(values: readonly Value[]): Document {
  return values.length === 1 ? { $eq: values[0] } : { $in: [...values] };
}

/** One element within these bounds, for which some alternative holds. */
function oneElement({ kind, p, alternatives }: RowTests, bounds: Document): Document {
  const [only] = alternatives;
  if (only !== undefined && alternatives.length === 1) {
    return { [kind]: { $elemMatch: { p, ...bounds, ...toMatch(only) } } };
  }
  return { [kind]: { $elemMatch: { p, ...bounds, $or: alternatives.map(toMatch) } } };
}

/** Each alternative by itself, which the server looks up one by one. */
function branches({ kind, p, alternatives }: RowTests): Document {
  const filters = alternatives.map((fields) => oneElement({ kind, p, alternatives: [fields] }, {}));
  return filters.length === 1 ? filters[0]! : { $or: filters };
}

/** Tests of intervals: by their low ends, or by their high ones. */
function compileEnds(type: string, tests: RowTests, kind: 'date' | 'number'): Compiled {
  const { p, alternatives } = tests;
  const each = alternatives.map(endsOf);
  if (each.length > 1 && each.length <= MAX_BRANCHES && each.every(({ low }) => isClosed(low))) {
    const filters = alternatives.map((fields, i) => within(kind, p, each[i]!, [fields]));
    return { filter: { $or: filters }, ways: [entryAccess(type, kind, p, { ranges: each.map(({ low }) => low) })] };
  }
  const around = boundsAround(alternatives);
  const byLow = { ...entryAccess(type, kind, p, { ranges: [around.low] }), isExact: isOfOne(alternatives, 'low') };
  const byHigh =
    kind === 'number'
      ? endAccess(type, p, around.high)
      : { ...entryAccess(type, 'date_high', p, { ranges: [around.high] }), isExact: isOfOne(alternatives, 'high') };
  return { filter: within(kind, p, around, alternatives), ways: choose(around, byLow, byHigh) };
}

/**
 * To numbers whose high end is in a range: points by their value, the others by the rows of their ends. An interval may also be found by
 * its low end, though its high end is not in the range.
 */
function endAccess(type: string, p: string, range: Range): Access {
  const of = (param: string): Access['arms'] => entryAccess(type, 'number', param, { ranges: [range] }).arms;
  return { arms: [...of(p), ...of(endParam(p))] };
}

/** The better access path if the limits alone decide it; both paths for an interval overlap. */
function choose({ low, high }: Bounds, byLow: Access, byHigh: Access): Access[] {
  if (!hasBound(high) || hasBound(lower(low))) return [byLow];
  return !hasBound(low) || hasBound(upper(high)) ? [byHigh] : [byLow, byHigh];
}

function within(kind: string, p: string, { low, high }: Bounds, alternatives: readonly FieldTests[]): Document {
  const bounds = {
    ...(hasBound(low) && { low: rangeMatch(low) }),
    ...(hasBound(high) && { high: rangeMatch(high) }),
  };
  const [only] = alternatives;
  // Its own bounds are those around all, or less tight.
  if (only !== undefined && alternatives.length === 1)
    return { [kind]: { $elemMatch: { p, ...toMatch(only), ...bounds } } };
  return { [kind]: { $elemMatch: { p, ...bounds, $or: alternatives.map(toMatch) } } };
}
