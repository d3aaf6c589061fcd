import type { Document } from 'mongodb';

import { type SortKey, valuedBy } from '../../../../search/query/query.js';
import type { SortValue } from '../../../../search/query/sort.js';
import type { FindQuery } from '../../../store.js';
import type { Raw } from '../../bson/bson.js';
import { fieldsOf, readValue } from '../../bson/bson.js';
import { slotFields, type SlotOf } from '../../bson/sort-slots.js';
import { sortExpression } from './sort-expression.js';

/** One key of an order. */
export interface OrderKey {
  /** The sort key of the query. */
  readonly sort: SortKey;
  /** The field with the value; documents without one have none, or null. */
  readonly field: string;
  readonly sign: 1 | -1;
  /** How the field is computed; absent: it is there. */
  readonly expression?: Document;
  /** The value as the server compares it. */
  toStored(value: SortValue): unknown;
}

/** The order of a search; what is equal in all keys comes by id. */
export interface Order {
  readonly keys: readonly OrderKey[];
  /** The index that has the order of the first key: ids, times, a slot, or the codes of a token parameter; or there is none. */
  readonly by: 'id' | 'updated' | 'slot' | 'token' | 'computed';
  /** Whether that is the whole order. Else what is equal in the first key has to be put in order by the others. */
  readonly isPlain: boolean;
  /** Of ids: -1 where they come last first. */
  readonly idSign: 1 | -1;
}

/** The order of ids. */
export const BY_ID: Order = { keys: [], by: 'id', isPlain: true, idSign: 1 };

/** A compound order of the server may have 32 fields: two of each key, and the id. */
const MAX_KEYS = 15;

/** The order that was asked for; undefined: none was. */
export function askedOrder({ type, sort }: Pick<FindQuery, 'type' | 'sort'>, slotOf: SlotOf): Order | undefined {
  return sort.length === 0 ? undefined : toOrder(type, sort, slotOf);
}

/** The order that keys ask for. Nothing comes after an id. */
export function toOrder(type: string, sort: readonly SortKey[], slotOf: SlotOf): Order {
  const end = sort.findIndex(({ by }) => by === 'id');
  const before = end < 0 ? sort : sort.slice(0, end);
  const idSign = end >= 0 && sort[end]!.isDescending ? -1 : 1;
  // Further keys would decide between what is equal in fifteen.
  const all = before.slice(0, MAX_KEYS).map((key, i) => toKey(type, key, i, slotOf));
  // What is equal in a field is so when it is asked for again, in whatever direction.
  const keys = all.filter(({ field }, i) => all.findIndex((key) => key.field === field) === i);
  const [first] = keys;
  if (first === undefined) return { keys, by: 'id', isPlain: true, idSign };
  const isPlain = keys.length === 1 && idSign === 1;
  return { keys, by: indexOf(first, isPlain), isPlain, idSign };
}

/** Codes are read by their index from the first one on, and not from the last. */
function indexOf({ field, expression, sort }: OrderKey, isPlain: boolean): Order['by'] {
  if (field === 'updated') return 'updated';
  if (expression === undefined) return 'slot';
  return sort.by === 'token' && isPlain && !sort.isDescending && valuedBy(sort).length === 1 ? 'token' : 'computed';
}

function toKey(type: string, key: SortKey, place: number, slotOf: SlotOf): OrderKey {
  const { by, isDescending } = key;
  const sign = isDescending ? -1 : 1;
  const isTime = by === 'updated' || by === 'date';
  const rest = {
    sort: key,
    sign,
    toStored: (value: SortValue) => storedOf(value, isTime),
  } as const;
  if (by === 'updated') return { ...rest, field: 'updated' };
  const params = valuedBy(key);
  const hasSlot = params.length === 1 && (by === 'string' || by === 'date' || isNumeric(by));
  const slot = hasSlot ? slotOf(type, params[0]!) : undefined;
  if (slot !== undefined) {
    const { least, greatest } = slotFields(slot);
    return { ...rest, field: isDescending ? greatest : least };
  }
  if (by === 'id') throw new Error('an id ends an order');
  return { ...rest, field: `s${place}`, expression: sortExpression(params, by, isDescending) };
}

/** Dates are milliseconds. */
function storedOf([value]: SortValue, isTime: boolean): unknown {
  return isTime ? new Date(value!) : value;
}

function isNumeric(by: SortKey['by']): boolean {
  return by === 'number' || by === 'quantity';
}

/** Returns the values that a document is sorted by; null: it has none. */
export function valuesOf(bytes: Raw, { keys }: Order): (SortValue | null)[] {
  const fields = fieldsOf(bytes);
  return keys.map(({ field }) => {
    const found = fields.get(field);
    return found === undefined ? null : toValue(readValue(bytes, found));
  });
}

function toValue(value: unknown): SortValue | null {
  if (value === null) return null;
  if (typeof value === 'string') return [value];
  if (value instanceof Date) return [value.getTime()];
  return [Number(value)];
}
