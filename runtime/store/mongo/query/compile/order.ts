import type { Document } from 'mongodb';

import { type SortKey, valuedBy } from '../../../../search/query/query.js';
import type { SortValue } from '../../../../search/query/sort.js';
import type { Raw } from '../../bson/bson.js';
import { fieldsOf, readValue } from '../../bson/bson.js';
import { slotFields, type SlotOf } from '../../bson/sort-slots.js';
import { sortExpression } from './sort-expression.js';

/** What a resource is sorted by: dates in milliseconds, tokens as code and system. */
export type OrderValue = string | number | readonly [code: string, system: string];

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
  toStored(value: OrderValue): unknown;
}

/** The order of a search; what is equal in all keys comes by id. */
export interface Order {
  readonly keys: readonly OrderKey[];
  /** By which index it can be walked through: ids, times, a slot; or it has to be computed. */
  readonly by: 'id' | 'updated' | 'slot' | 'computed';
  /** Of ids: -1 where they come last first. */
  readonly idSign: 1 | -1;
}

/** A compound order of the server may have 32 fields: two of each key, and the id. */
const MAX_KEYS = 15;

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
  if (first === undefined) return { keys, by: 'id', idSign };
  const isPlain = keys.length === 1 && first.expression === undefined && idSign === 1;
  const by = !isPlain ? 'computed' : first.field === 'updated' ? 'updated' : 'slot';
  return { keys, by, idSign };
}

function toKey(type: string, key: SortKey, place: number, slotOf: SlotOf): OrderKey {
  const { by, isDescending } = key;
  const sign = isDescending ? -1 : 1;
  const isTime = by === 'updated' || by === 'date';
  const rest = {
    sort: key,
    sign,
    toStored: (value: OrderValue) => storedOf(value, isTime),
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

function storedOf(value: OrderValue, isTime: boolean): unknown {
  if (typeof value === 'object') return { code: value[0], system: value[1] };
  return isTime ? new Date(value) : value;
}

function isNumeric(by: SortKey['by']): boolean {
  return by === 'number' || by === 'quantity';
}

/** A place in an order: behind a resource with these values and this id. */
export interface OrderPlace {
  readonly id: string;
  /** One value for each key; null: the resource has none. */
  readonly values: readonly (OrderValue | null)[];
}

/** Returns the values that a document is sorted by. */
export function valuesOf(bytes: Raw, { keys }: Order): (OrderValue | null)[] {
  const fields = fieldsOf(bytes);
  return keys.map(({ field }) => {
    const found = fields.get(field);
    return found === undefined ? null : toValue(readValue(bytes, found));
  });
}

function toValue(value: unknown): OrderValue | null {
  if (value === null || typeof value === 'string') return value;
  if (value instanceof Date) return value.getTime();
  if (value instanceof Map) return [String(value.get('code')), String(value.get('system'))];
  return Number(value);
}

/** Returns a value in the form that both stores have in common. */
export function toSortValue(value: OrderValue | null): SortValue | null {
  return value === null || typeof value === 'object' ? value : [value];
}

/** Returns the value that such a form stands for. */
export function toOrderValue(value: SortValue | null): OrderValue | null {
  if (value === null) return null;
  return value.length === 2 ? [String(value[0]), String(value[1])] : (value[0] ?? null);
}
