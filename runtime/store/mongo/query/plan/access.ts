import { MaxKey, MinKey, type Document } from 'mongodb';

import { BY_ENTRY, BY_TYPE_AND_TIME } from '../../indexes.js';
import { isEmpty } from './hull.js';
import type { Range, Value } from '../compile/row-test.js';

/** A stretch of an index: from `min`, within, to `max`, without. */
export interface Stretch {
  readonly min: Document;
  readonly max: Document;
}

/** An access path for a condition: the ranges of an index that contain all its matches. */
export interface Access {
  /** Name of the index. */
  readonly index: string;
  readonly hint: Document;
  /** The first ranges: enough to compare and count them. */
  readonly stretches: readonly Stretch[];
  /** How many there are. */
  readonly size: number;
  /** Whether what comes by it is in the order of ids. */
  readonly isOrdered: boolean;
  /** The filter that goes by it, where that is a part of the whole condition only. */
  readonly part?: Document;
  /** Its single range contains exactly the matches of the condition, so no document has to be read to test it. */
  readonly isExact?: boolean;
  /** The whole of what each stretch is a piece of, where there may be nothing at all. */
  readonly around?: readonly (Stretch | undefined)[];
}

type EntryIndex = keyof typeof BY_ENTRY;

/** Of longer lists each value is taken to be as frequent as these are in the mean. */
const MAX_COUNTED = 20;

/** More lists of one value each are not merged in order by the server. */
export const MAX_MERGED = 100;

/** Way by an index of entries: of a parameter, with a field that is one of some values, or in some ranges. */
export function entryAccess(
  type: string,
  index: EntryIndex,
  p: string,
  keys: { readonly values: readonly Value[] } | { readonly ranges: readonly Range[] },
): Access {
  const hint = BY_ENTRY[index];
  const [, paramField = '', keyField = '', ...rest] = Object.keys(hint);
  const at = (key: unknown, others: MinKey | MaxKey): Document => ({
    type,
    [paramField]: p,
    [keyField]: key,
    ...Object.fromEntries(rest.map((name) => [name, others])),
  });
  if ('values' in keys) {
    const first = keys.values.slice(0, MAX_COUNTED);
    const stretches = first.map((value) => ({ min: at(value, new MinKey()), max: at(value, new MaxKey()) }));
    return { index, hint, stretches, size: keys.values.length, isOrdered: keys.values.length <= MAX_MERGED };
  }
  const filled = keys.ranges.filter((range) => !isEmpty(range));
  const stretches = filled.slice(0, MAX_COUNTED).map(({ gt, gte, lt, lte }) => ({
    min: gt !== undefined ? at(gt, new MaxKey()) : at(gte ?? new MinKey(), new MinKey()),
    max: lte !== undefined ? at(lte, new MaxKey()) : lt !== undefined ? at(lt, new MinKey()) : at(new MaxKey(), new MaxKey()), // prettier-ignore
  }));
  return { index, hint, stretches, size: filled.length, isOrdered: false };
}

/** The stretch of all that has one value, which is in the order of ids, behind one of them; undefined: it is not so. */
export function valueStretch({ isExact, isOrdered, stretches }: Access, last?: string): Stretch | undefined {
  const [only] = stretches;
  if (only === undefined || stretches.length > 1 || isExact !== true || !isOrdered) return undefined;
  // No text sorts between a text and the same text followed by a null character.
  return last === undefined ? only : { min: { ...only.min, _id: `${last}\0` }, max: only.max };
}

/** Way by ids. */
export function idAccess(type: string, ids: readonly string[]): Access {
  const all = [...new Set(ids)];
  const keys = all.slice(0, MAX_COUNTED).map((id) => `${type}/${id}`);
  // Nothing is counted that is known.
  return {
    index: '_id_',
    hint: { _id: 1 },
    stretches: keys.map((_id) => point(_id)),
    size: all.length,
    isOrdered: true,
  };
}

function point(_id: string): Stretch {
  return { min: { _id }, max: { _id: `${_id}\0` } };
}

/** Way by the time of the last update. */
export function timeAccess(type: string, range: Range): Access {
  const { gt, gte, lt, lte } = range;
  const at = (updated: unknown, others: MinKey | MaxKey): Document => ({ type, updated, n: others, id: others });
  const min = gt !== undefined ? at(gt, new MaxKey()) : at(gte ?? new MinKey(), new MinKey());
  const max = lte !== undefined ? at(lte, new MaxKey()) : at(lt ?? new MaxKey(), new MinKey());
  const stretches = isEmpty(range) ? [] : [{ min, max }];
  return {
    index: 'by_type_and_time',
    hint: BY_TYPE_AND_TIME,
    stretches,
    size: stretches.length,
    isOrdered: false,
  };
}

/** Way through all of a type. What follows the slash of its ids is the zero. */
export function typeAccess(type: string): Access {
  const [min, max] = [{ _id: `${type}/` }, { _id: `${type}0` }];
  return { index: '_id_', hint: { _id: 1 }, stretches: [{ min, max }], size: 1, isOrdered: true };
}
