import { idOf } from '../../bson/bson.js';
import type { Document } from 'mongodb';

import type { Batch } from '../../read/batch.js';
import type { Ask } from '../ask.js';
import { everyOf, restOf } from '../compile/compile.js';
import { valuesOf, type Order } from '../compile/order.js';
import { computedFields } from '../computed.js';
import type { Search } from '../open-search.js';
import { drivingIn } from '../plan/driving.js';
import { compareMatches, type Match } from './match.js';

/**
 * All that a search finds, in its order: what each is sorted by is read, and no more of it.
 *
 * @returns undefined where that are more than `most`
 */
export async function listOrder(
  { ask, type, order, conjuncts, choice }: Search,
  most: number,
): Promise<readonly Match[] | undefined> {
  const way = choice.best?.way;
  const filters = [drivingIn(type, way), ...restOf(conjuncts, way)];
  const { documents, isCut } = await readOrder(ask, order, filters, way?.access.hint, most + 1);
  if (isCut || documents.length > most) return undefined;
  return toMatches(documents, order).sort(compareMatches(order));
}

/** Those of some resources that fulfil filters, in any order. */
export async function readMatches(
  ask: Ask,
  order: Order,
  keys: readonly string[],
  filters: readonly Document[],
): Promise<Match[]> {
  const { documents } = await readOrder(ask, order, [{ _id: { $in: [...keys] } }, ...filters], { _id: 1 }, keys.length);
  return toMatches(documents, order);
}

function readOrder(
  ask: Ask,
  order: Order,
  filters: readonly Document[],
  hint: Document | undefined,
  limit: number,
): Promise<Batch> {
  const filter = everyOf(filters);
  const projection = { _id: 1, ...Object.fromEntries(order.keys.map(({ field }) => [field, 1])) };
  const computed = computedFields(order);
  if (computed === undefined) return ask.read({ filter, projection, limit, ...(hint !== undefined && { hint }) });
  return ask.pipeline([{ $match: filter }, { $set: computed }, { $project: projection }], hint, limit);
}

function toMatches(documents: Batch['documents'], order: Order): Match[] {
  return documents.map((bytes) => ({ key: idOf(bytes), values: valuesOf(bytes, order) }));
}
