import { MaxKey, MinKey, type Document } from 'mongodb';

import { BY_TYPE_AND_TIME } from '../../indexes.js';
import { asRest } from '../compile/compile.js';
import type { SortValue } from '../../../../search/query/sort.js';
import type { Placed } from '../../../plan/cursor.js';
import type { Order, OrderKey } from '../compile/order.js';

/** A piece of an order; pieces follow each other. */
export interface Segment {
  /** Selects the resources of the type in this segment. */
  readonly filter: Document;
  readonly sort: Document;
  /** The index to walk through. */
  readonly hint: Document;
  /** What of the index is gone through, by the index alone. */
  readonly walked: { readonly filter: Document; readonly min?: Document; readonly max?: Document };
  /** The order that this index has in place of `sort`: times, but what has one time is not in the order of ids. */
  readonly roughly?: Document;
}

const BY_ID = { _id: 1 } as const;

/** The pieces of an order that an index has, from its beginning or from a cursor on. */
export function toSegments(type: string, order: Order, after: Placed<string> | undefined): Segment[] {
  const [key] = order.keys;
  const last = after?.key;
  if (key === undefined) {
    const filter = idRange(type, last, order.idSign);
    return [{ filter, sort: { _id: order.idSign }, hint: BY_ID, walked: { filter } }];
  }
  const value = after?.values[0];
  const begins = after === undefined ? [beginning(type, key)] : [];
  const rest = value === undefined || value === null ? [] : behind(type, key, key.toStored(value), last);
  // What has no value comes last; everything has a time.
  const without = key.field === 'updated' ? [] : [withoutValue(type, key, value === null ? last : undefined)];
  return [...begins, ...rest, ...without];
}

/**
 * Returns the segments of an order for matches that are collected and then sorted. One command finds those that are
 * equal to the last value and those behind it.
 */
export function toCollected(type: string, order: Order, after: Placed<string> | undefined): Segment[] {
  const segments = toSegments(type, order, after);
  const value = after?.values[0];
  const [equal, beyond, ...rest] = segments;
  if (order.keys.length === 0 || value === undefined || value === null) return segments;
  if (equal === undefined || beyond === undefined) return segments;
  return [{ ...beyond, filter: asRest({ $or: [equal.filter, beyond.filter] }) }, ...rest];
}

function beginning(type: string, key: OrderKey): Segment {
  const { hint, ...walk } = walkOf(key);
  const all = { type, [key.field]: { $exists: true } };
  if (key.field === 'updated') return { filter: all, hint, ...walk, walked: { filter: { type } } };
  const [first, last] = key.sign === 1 ? [new MinKey(), new MaxKey()] : [new MaxKey(), new MinKey()];
  const at = (value: unknown, _id: unknown): Document => ({ type, [key.field]: value, _id });
  const walked = { filter: {}, min: at(first, new MinKey()), max: at(last, new MaxKey()) };
  return { filter: all, hint, ...walk, walked };
}

/** Equal ones come by id. */
function behind(type: string, key: OrderKey, value: unknown, last: string | undefined): Segment[] {
  const { field, sign } = key;
  const { hint, ...walk } = walkOf(key);
  const equal = { type, [field]: { $eq: value }, ...idRange(type, last, 1) };
  const beyond = { type, [field]: { [sign === 1 ? '$gt' : '$lt']: value } };
  return [
    { filter: equal, sort: BY_ID, hint, walked: { filter: equal } },
    { filter: beyond, hint, ...walk, walked: { filter: beyond } },
  ];
}

/** Returns what has the value of a place in the first key, or comes behind it; without a place all that has a value. */
export function toSegmentFrom(type: string, key: OrderKey, value: SortValue | undefined): Segment {
  if (value === undefined) return beginning(type, key);
  const filter = { type, [key.field]: { [key.sign === 1 ? '$gte' : '$lte']: key.toStored(value) } };
  return { filter, ...walkOf(key), walked: { filter } };
}

/** Returns what has no value in the first key, by id. */
export function withoutValue(type: string, { field }: OrderKey, last: string | undefined): Segment {
  const ids = idRange(type, last, 1);
  return { filter: { [field]: { $exists: false }, ...ids }, sort: BY_ID, hint: BY_ID, walked: { filter: ids } };
}

function walkOf({ field, sign }: OrderKey): Pick<Segment, 'sort' | 'hint' | 'roughly'> {
  const sort = { [field]: sign, _id: 1 };
  if (field !== 'updated') return { sort, hint: { type: 1, [field]: sign, _id: 1 } };
  return { sort, hint: BY_TYPE_AND_TIME, roughly: { updated: sign, n: sign, id: sign } };
}

/** Ids of a type, behind the last in this direction. What follows the slash is the zero. */
function idRange(type: string, last: string | undefined, sign: 1 | -1): Document {
  const [first, end] = [`${type}/`, `${type}0`];
  if (last === undefined) return { _id: { $gte: first, $lt: end } };
  return { _id: sign === 1 ? { $gt: last, $lt: end } : { $gte: first, $lt: last } };
}
