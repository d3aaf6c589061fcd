import type { CursorPlace, SourceName } from '../../plan/cursor.js';
import type { SortKey } from '../../../search/query/query.js';
import type { Order } from './compile/order.js';
import type { Hit } from './hit.js';

/** Returns a test whether a value is the key of a resource of a type: with another a page would show resources of other types. */
export function isKeyOf(type: string): (value: unknown) => value is string {
  return (value): value is string => typeof value === 'string' && value.startsWith(`${type}/`);
}

/** Returns the sort keys of an order, by which cursors have their values. */
export function sortOf(order: Order | undefined): readonly SortKey[] | undefined {
  return order?.keys.map(({ sort }) => sort);
}

/** Returns where a page begins if a resource was the last of the page before. */
export function placeBehind(source: SourceName, { key, values, place }: Hit): CursorPlace<string> {
  if (source === 'sort' || source === 'type') return { source, after: { key, values } };
  const [way, path] = source;
  return place === undefined || way === 'keys'
    ? { source: ['keys', path], after: { key, values } }
    : { source: ['arms', path], at: { arm: place.arm(), at: place.at } };
}
