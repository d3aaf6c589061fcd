import { MaxKey, MinKey, type Document } from 'mongodb';

import { compareText } from '../../../../search/query/compare-text.js';
import { FhirError } from '../../../../fhir/errors.js';
import { BY_ENTRY, BY_TYPE_AND_TIME } from '../../indexes.js';
import { rangeMatch } from '../compile/row-match.js';
import type { Range, Value } from '../compile/row-test.js';
import { isEmpty } from './bounds.js';

/** The field of an answer that has the key by which a document was found. */
export const AT = 'at';

/** A range of an index: from `min`, within, to `max`, without. */
export interface KeyRange {
  readonly min: Document;
  readonly max: Document;
}

/** Values of the key of an index in their order, or a range of them. */
type Keys = { readonly values: readonly Value[] } | { readonly range: Range };

/** Resources with keys of one index: their rows come in the order of that index, each resource once in one command. */
export interface Arm {
  /** Name of the index. */
  readonly index: string;
  readonly hint: Document;
  /** What the keys have in common: the type, and the parameter of entries. */
  readonly begin: Document;
  readonly keys: Keys;
  /** What a resource fulfils that is in it, of any type. */
  readonly holds: Document;
  /** The same, where the server can make the range of it. */
  readonly driving: Document;
}

/** A way to what fulfils a condition: all of it is in one arm or another. */
export interface Access {
  readonly arms: readonly Arm[];
  /** Whether all that is in them fulfils the condition. */
  readonly isExact?: boolean;
}

type EntryIndex = keyof typeof BY_ENTRY;

/**
 * Way by an index of entries: of a parameter, with a field that is one of some values, or in some ranges.
 *
 * @param pattern a range of words as a regular expression: two bounds of a list may be met by two of its elements, a pattern is met by one
 */
export function entryAccess(
  type: string,
  index: EntryIndex,
  p: string,
  keys: { readonly values: readonly Value[] } | { readonly ranges: readonly Range[] },
  pattern?: string,
): Access {
  const { hint, array, paramField, field } = shapeOf(index);
  const arm = (own: Keys): Arm => {
    const asked = conditionOf(own);
    const isOfList = index === 'words' && 'range' in own && asked !== undefined;
    const row = (on: unknown): Document => ({
      [array]: { $elemMatch: { p, ...(on !== undefined && { [field]: on }) } },
    });
    const holds = row(isOfList ? { $elemMatch: asked } : asked);
    const driving = { type, ...(pattern === undefined ? holds : row({ $regex: pattern })) };
    return { index, hint, begin: { type, [paramField]: p }, keys: own, holds, driving };
  };
  if ('values' in keys) return { arms: keys.values.length === 0 ? [] : [arm({ values: sorted(keys.values) })] };
  return { arms: keys.ranges.filter((range) => !isEmpty(range)).map((range) => arm({ range })) };
}

/** The fields of an index: the array, its parameter, and the first that keys are compared by. */
function shapeOf(index: EntryIndex): { hint: Document; array: string; paramField: string; field: string } {
  const hint = BY_ENTRY[index];
  const [, paramField = '', keyField = ''] = Object.keys(hint);
  const [array = '', field = ''] = keyField.split('.');
  return { hint, array, paramField, field };
}

function sorted(values: readonly Value[]): readonly Value[] {
  return [...new Set(values)].sort((a, b) => compareText(String(a), String(b)));
}

/** Undefined: any key. */
function conditionOf(keys: Keys): Document | undefined {
  if ('range' in keys) return Object.keys(keys.range).length === 0 ? undefined : rangeMatch(keys.range);
  return keys.values.length === 1 ? { $eq: keys.values[0] } : { $in: [...keys.values] };
}

/** Way by ids. */
export function idAccess(type: string, ids: readonly string[]): Access {
  if (ids.length === 0) return { arms: [] };
  const values = sorted(ids.map((id) => `${type}/${id}`));
  const holds = { _id: conditionOf({ values }) };
  return { arms: [{ index: '_id_', hint: { _id: 1 }, begin: {}, keys: { values }, holds, driving: holds }] };
}

/** Way by the time of the last update. */
export function timeAccess(type: string, range: Range): Access {
  if (isEmpty(range)) return { arms: [] };
  const holds = Object.keys(range).length === 0 ? {} : { updated: rangeMatch(range) };
  const [index, hint] = ['by_type_and_time', BY_TYPE_AND_TIME];
  return { arms: [{ index, hint, begin: { type }, keys: { range }, holds, driving: { type, ...holds } }] };
}

/** Way through all of a type, by id. The character after the slash is the zero. */
export function allAccess(type: string): Access {
  const range = { gte: `${type}/`, lt: `${type}0` };
  const holds = { _id: rangeMatch(range) };
  return { arms: [{ index: '_id_', hint: { _id: 1 }, begin: {}, keys: { range }, holds, driving: holds }] };
}

/** Returns a bound of a range: the first parts of a key, then the least or greatest there is. */
function bound({ hint, begin }: Arm, parts: readonly unknown[], others: MinKey | MaxKey): Document {
  const names = Object.keys(hint).slice(Object.keys(begin).length);
  return { ...begin, ...Object.fromEntries(names.map((name, i) => [name, i < parts.length ? parts[i] : others])) };
}

/** Returns the ranges of an index that an arm has: one for each value. */
export function keyRangesOf(arm: Arm, most = Infinity): KeyRange[] {
  const { keys } = arm;
  if ('values' in keys) return keys.values.slice(0, most).map((value) => keyRangeAt(arm, value));
  return [{ min: minOf(arm, keys.range), max: maxOf(arm, keys.range) }];
}

/** Returns how many ranges an arm has. */
export function sizeOfArm({ keys }: Arm): number {
  return 'values' in keys ? keys.values.length : 1;
}

function keyRangeAt(arm: Arm, value: unknown): KeyRange {
  // Nothing sorts between a text and the same text followed by a null character; other keys have more fields.
  if (arm.index === '_id_') return { min: { _id: value }, max: { _id: `${String(value)}\0` } };
  return { min: bound(arm, [value], new MinKey()), max: bound(arm, [value], new MaxKey()) };
}

function minOf(arm: Arm, { gt, gte }: Range): Document {
  return gt !== undefined ? bound(arm, [gt], new MaxKey()) : bound(arm, gte === undefined ? [] : [gte], new MinKey());
}

function maxOf(arm: Arm, { lt, lte }: Range): Document {
  return lte === undefined && lt !== undefined
    ? bound(arm, [lt], new MinKey())
    : bound(arm, lte === undefined ? [] : [lte], new MaxKey());
}

/** A part of an arm that one command goes through. */
export interface Piece {
  /** Its range of the index; absent: the server makes it of `driving`. */
  readonly keyRange?: KeyRange;
  readonly driving: Document;
  /** What a resource fulfils that has keys of the arm before this piece; absent: there are none, or none has several. */
  readonly passed?: Document;
}

/** A key of an index behind which is gone on: what comes after the type and the parameter. */
export type KeyPlace = readonly (Value | null)[];

/** Returns what is left of an arm. @param after absent: all of it */
export function piecesOf(arm: Arm, after?: KeyPlace): readonly Piece[] {
  const { driving } = arm;
  if (after !== undefined) return piecesAfter(arm, after);
  const [only, ...others] = keyRangesOf(arm, 2);
  return [others.length === 0 && only !== undefined ? { driving, keyRange: only } : { driving }];
}

/** Texts have no end but a null character more. */
function justAfter(parts: KeyPlace): KeyPlace {
  return [...parts.slice(0, -1), `${String(parts.at(-1))}\0`];
}

function piecesAfter(arm: Arm, after: KeyPlace): readonly Piece[] {
  const { keys, driving } = arm;
  const [first] = after;
  if (after.length !== Object.keys(arm.hint).length - Object.keys(arm.begin).length)
    throw new FhirError('page-invalid');
  const min = bound(arm, justAfter(after), new MinKey());
  if ('range' in keys) {
    return [{ driving, keyRange: { min, max: maxOf(arm, keys.range) }, ...passedOf(arm, after) }];
  }
  const later = keys.values.filter((value) => compareText(String(value), String(first)) > 0);
  const rest = later.length === 0 ? [] : restOf(arm, later, keys.values.slice(0, keys.values.length - later.length));
  if (arm.index === '_id_' || !keys.values.includes(first!)) return rest;
  return [{ driving, keyRange: { ...keyRangeAt(arm, first), min }, ...passedOf(arm, after) }, ...rest];
}

/** Returns the pieces of an arm for its last values alone. */
function restOf(arm: Arm, values: readonly Value[], passed: readonly Value[]): readonly Piece[] {
  const left = withValues(arm, values);
  const isRepeated = arm.index !== '_id_' && passed.length > 0;
  return piecesOf(left).map((piece) => ({
    ...piece,
    ...(isRepeated && { passed: withValues(arm, passed).holds }),
  }));
}

/** Returns the arm with other values. */
export function withValues(arm: Arm, values: readonly Value[]): Arm {
  const { begin, index } = arm;
  if (index === '_id_') {
    const holds = { _id: conditionOf({ values }) };
    return { ...arm, keys: { values }, holds, driving: holds };
  }
  const [type, p] = Object.values(begin) as [string, string];
  return entryAccess(type, index as EntryIndex, p, { values }).arms[0] ?? { ...arm, keys: { values } };
}

/** Returns the filter for keys of an arm at a place or before it. */
function passedOf(arm: Arm, after: KeyPlace): Pick<Piece, 'passed'> {
  if (!(arm.index in BY_ENTRY)) return {};
  const { array } = shapeOf(arm.index as EntryIndex);
  const p = Object.values(arm.begin)[1] as string;
  const names = Object.keys(arm.hint).slice(2, -1).map((name) => name.slice(array.length + 1)); // prettier-ignore
  const values = after.slice(0, -1);
  const row = (tests: Document): Document => ({ [array]: { $elemMatch: { p, ...tests } } });
  const equal = (to: number): Document =>
    Object.fromEntries(names.slice(0, to).map((name, i) => [name, values[i] === null ? { $exists: false } : { $eq: values[i] }])); // prettier-ignore
  const isOfList = arm.index === 'words';
  const before = names.flatMap((name, i): Document[] => {
    const value = values[i];
    if (value === null || value === undefined) return [];
    const below = i === 0 ? belowIn(arm.keys, value, isOfList) : { $lt: value };
    return below === undefined ? [] : [row({ ...equal(i), [name]: below })];
  });
  const same = { ...row(equal(names.length)), _id: { $lte: after.at(-1) } };
  return { passed: { $or: [...before, same] } };
}

/** Returns the test for keys of an arm below a value; undefined: there are none. */
function belowIn(keys: Keys, value: Value, isOfList: boolean): Document | undefined {
  if ('values' in keys) {
    const values = keys.values.filter((each) => compareText(String(each), String(value)) < 0);
    return values.length === 0 ? undefined : { $in: values };
  }
  const { gt, gte } = keys.range;
  // Below every value there is what is missing.
  if (gt === undefined && gte === undefined) return { $not: { $gte: value } };
  const below = { ...(gt === undefined ? { $gte: gte } : { $gt: gt }), $lt: value };
  return isOfList ? { $elemMatch: below } : below;
}

/** Returns the key of an index at a place, as the server shows it. */
export function keyAtPlace(arm: Arm, place: KeyPlace): Document {
  return bound(arm, place, new MinKey());
}

/** Returns the place of a key, as an answer of the server has it. */
export function placeIn({ begin }: Arm, key: ReadonlyMap<string, unknown>): KeyPlace {
  return [...key.values()].slice(Object.keys(begin).length) as KeyPlace;
}

/** Returns a text that no other arm of a search has. */
export function textOf({ index, begin, keys }: Arm): string {
  return `${index} ${JSON.stringify([begin, keys])}`;
}
