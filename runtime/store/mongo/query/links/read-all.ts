import type { Document } from 'mongodb';

import type { Ask } from '../ask.js';
import { everyOf } from '../compile/compile.js';
import { idOf, type Raw } from '../../bson/bson.js';

/** Keys that one command names. */
export const CHUNK = 2000;

/** Pieces of a list. */
export function* chunksOf<T>(all: readonly T[], size = CHUNK): Generator<readonly T[]> {
  for (let at = 0; at < all.length; at += size) yield all.slice(at, at + size);
}

/** Documents with these keys that fulfil some filters, a piece at a time. */
export async function* readByKeys(
  ask: Ask,
  keys: readonly string[],
  filters: readonly Document[],
  projection: Document,
): AsyncGenerator<readonly Raw[]> {
  for (const chunk of chunksOf(keys)) {
    let left: readonly string[] = [...chunk].sort();
    while (left.length > 0) {
      const filter = everyOf([{ _id: { $in: [...left] } }, ...filters]);
      const query = { filter, hint: { _id: 1 }, sort: { _id: 1 }, projection, limit: left.length };
      const { documents, isCut } = await ask.read(query);
      yield documents;
      const last = documents.at(-1);
      if (!isCut || last === undefined) break;
      const end = idOf(last);
      left = left.filter((key) => key > end);
    }
  }
}

/** Documents that an index finds, in the order of keys, a piece at a time. */
export async function* readAllBy(
  ask: Ask,
  hint: Document,
  filters: readonly Document[],
  projection: Document,
  limit = CHUNK,
): AsyncGenerator<readonly Raw[]> {
  let end: string | undefined;
  for (;;) {
    const behind = end === undefined ? [] : [{ _id: { $gt: end } }];
    const filter = everyOf([...filters, ...behind]);
    const { documents, isCut } = await ask.read({ filter, hint, sort: { _id: 1 }, projection, limit });
    yield documents;
    const last = documents.at(-1);
    if (last === undefined || (!isCut && documents.length < limit)) return;
    end = idOf(last);
  }
}
