import type { Document } from 'mongodb';

import type { Batch } from '../read/batch.js';
import type { Ask } from './ask.js';
import { everyOf } from './compile/compile.js';
import type { Placed } from '../../plan/cursor.js';
import type { SortValue } from '../../../search/query/sort.js';
import type { Order, OrderKey } from './compile/order.js';

/** Finds what fulfils the filters, and sorts it by values that are computed for each document: orders that no index has. */
export async function sortComputed(
  ask: Ask,
  order: Order,
  after: Placed<string> | undefined,
  filters: readonly Document[],
  hint: Document,
  projection: Document,
  limit: number,
): Promise<Batch> {
  const pipeline = [
    { $match: everyOf(filters) },
    ...behindStages(order, after, projection),
    { $sort: sortOf(order) },
    { $limit: limit },
  ];
  return ask.pipeline(pipeline, hint, limit);
}

/**
 * Returns stages that compute what documents are sorted by, and leave those behind a place.
 *
 * @param projection absent: all fields are left
 */
export function behindStages(order: Order, after: Placed<string> | undefined, projection?: Document): Document[] {
  const computed = computedFields(order);
  return [
    ...(computed === undefined ? [] : [{ $set: computed }]),
    ...(projection === undefined ? [] : [{ $project: projection }]),
    { $set: Object.fromEntries(order.keys.map(({ field }, i) => [lackOf(i), lacks(field)])) },
    ...(after === undefined ? [] : [{ $match: behind(order, after) }]),
  ];
}

/** What has to be computed of each document to sort it; undefined: nothing. */
function computedFields({ keys }: Order): Document | undefined {
  const computed = keys.flatMap(({ field, expression }) => (expression === undefined ? [] : [[field, expression]]));
  return computed.length === 0 ? undefined : (Object.fromEntries(computed) as Document);
}

/** The field that says whether a document has no value for a key: 1, or 0. */
function lackOf(key: number): string {
  return `lacks${key}`;
}

function lacks(field: string): Document {
  return { $cond: [{ $eq: [{ $ifNull: [`$${field}`, null] }, null] }, 1, 0] };
}

/** What has no value comes last, in both directions. */
function sortOf({ keys, idSign }: Order): Document {
  const fields = keys.flatMap(({ field, sign }, i) => [
    [lackOf(i), 1],
    [field, sign],
  ]);
  return Object.fromEntries([...fields, ['_id', idSign]]) as Document;
}

/** Equal in the first keys and behind in the next, for each key; or equal in all, with an id that comes later. */
function behind({ keys, idSign }: Order, { values, key: last }: Placed<string>): Document {
  const equal = keys.map((key, i) => isEqual(key, i, values[i] ?? null));
  const alternatives = keys.flatMap((key, i) => {
    const value = values[i] ?? null;
    // Nothing is behind what has no value.
    return value === null ? [] : [{ $and: [...equal.slice(0, i), isBehind(key, i, value)] }];
  });
  const isLater = { _id: { [idSign === 1 ? '$gt' : '$lt']: last } };
  return { $or: [...alternatives, { $and: [...equal, isLater] }] };
}

function isEqual({ field, toStored }: OrderKey, i: number, value: SortValue | null): Document {
  return value === null ? { [lackOf(i)]: 1 } : { [lackOf(i)]: 0, [field]: { $eq: toStored(value) } };
}

function isBehind({ field, sign, toStored }: OrderKey, i: number, value: SortValue): Document {
  return { $or: [{ [lackOf(i)]: 1 }, { [lackOf(i)]: 0, [field]: { [sign === 1 ? '$gt' : '$lt']: toStored(value) } }] };
}
