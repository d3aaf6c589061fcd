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
  /** By which index it can be walked through: ids, times, a slot; or it has to be computed. */
  readonly by: 'id' | 'updated' | 'slot' | 'computed';
  /** Of ids: -1 where they come last first. */
  readonly idSign: 1 | -1;
}

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

/** Dates are milliseconds, tokens a code and a system. */
function storedOf([value, system]: SortValue, isTime: boolean): unknown {
  if (system !== undefined) return { code: value, system };
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
  if (value instanceof Map) return [String(value.get('code')), String(value.get('system'))];
  return [Number(value)];
}
