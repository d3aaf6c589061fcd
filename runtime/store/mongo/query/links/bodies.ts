import type { Document } from 'mongodb';

import type { Ask } from '../ask.js';
import { idOf, type Raw } from '../../bson/bson.js';
import { VERSION_ONLY } from '../../bson/stored-version.js';

/** Current versions with some keys. */
export interface Bodies {
  /** In the order of the keys; missing resources are omitted. */
  readonly documents: readonly Raw[];
  /** So many of the keys, from the first on, were looked for: as many as an answer holds. */
  readonly looked: number;
}

/**
 * Current versions with some keys: as many as an answer holds, and not fewer than one. The server gives an
 * answer in the order of its index; where that is not the one of the keys, those that it held may be the last of them, so
 * that the first are asked for again, as many as fitted.
 */
export async function readBodies(
  ask: Ask,
  keys: readonly string[],
  projection: Document = VERSION_ONLY,
): Promise<Bodies> {
  const found = new Map<string, Raw>();
  let wanted = keys;
  for (;;) {
    const missing = wanted.filter((key) => !found.has(key));
    if (missing.length === 0) break;
    const { documents, isCut } = await ask.byKeys(missing, projection);
    for (const bytes of documents) found.set(idOf(bytes), bytes);
    if (!isCut || documents.length === 0) break;
    const fitting = Math.min(documents.length, Math.floor(wanted.length / 2));
    wanted = wanted.slice(0, Math.max(1, fitting));
    const kept = new Set(wanted);
    for (const key of found.keys()) if (!kept.has(key)) found.delete(key);
  }
  return { documents: wanted.flatMap((key) => found.get(key) ?? []), looked: wanted.length };
}
