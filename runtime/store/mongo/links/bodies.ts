import type { Ask } from '../find/ask.js';
import type { Batch } from '../snapshot.js';
import type { Raw } from '../bson.js';
import { VERSION_ONLY } from '../stored-version.js';
import { idOf } from './read-all.js';

/** Current versions with some keys, in their order: as many as an answer holds. */
export async function readBodies(ask: Ask, keys: readonly string[]): Promise<Batch> {
  if (keys.length === 0) return { documents: [], isCut: false };
  const query = { hint: { _id: 1 }, projection: VERSION_ONLY };
  const { documents, isCut } = await ask.read({ ...query, filter: { _id: { $in: [...keys] } }, limit: keys.length });
  const byKey = new Map(documents.map((bytes) => [idOf(bytes), bytes]));
  const found: Raw[] = [];
  for (const key of keys) {
    const bytes = byKey.get(key);
    if (bytes === undefined) break;
    found.push(bytes);
  }
  if (!isCut || found.length > 0) return { documents: found, isCut };
  const [first = ''] = keys;
  return { ...(await ask.read({ ...query, filter: { _id: first }, limit: 1 })), isCut: true };
}
