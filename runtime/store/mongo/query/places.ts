import type { FindCursor, SourceName } from '../../plan/cursor.js';
import type { SortKey } from '../../../search/query/query.js';
import { toOrderValue, type Order } from './compile/order.js';
import type { Hit } from './hit.js';
import { toKey } from './links/held.js';
import type { Place } from './search.js';
import { placeInOrder } from './sorted.js';

/** Whether it is the key of a resource. */
export function isKey(value: unknown): value is string {
  return typeof value === 'string' && value.includes('/');
}

/** Returns the sort keys of an order, by which cursors have their values. */
export function sortOf(order: Order | undefined): readonly SortKey[] | undefined {
  return order?.keys.map(({ sort }) => sort);
}

/** Returns where a page begins that follows another. */
export function placeOf({ place }: Pick<FindCursor<string>, 'place'>): Place {
  if ('at' in place) return place;
  const { source, after } = place;
  if (source === 'sort') return { source, id: toKey(after.key).id, values: after.values.map(toOrderValue) };
  return source === 'type' ? { source, id: toKey(after.key).id } : { source, key: after.key };
}

/** Returns where a page begins if a resource was the last of the page before. */
export function placeBehind(source: SourceName, hit: Hit): Place {
  const { key, place } = hit;
  if (source === 'sort') return { source, ...placeInOrder(hit) };
  if (source === 'type') return { source, id: toKey(key).id };
  const [way, path] = source;
  return place === undefined || way === 'keys'
    ? { source: ['keys', path], key }
    : { source: ['arms', path], at: { arm: place.arm(), at: place.at } };
}
