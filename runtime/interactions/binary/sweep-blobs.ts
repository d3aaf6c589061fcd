import type { Store } from '../../store/store.js';
import { BLOB_PREFIX, idOfBlob } from '../../core/binary/binary-content.js';
import { isReferred } from '../../core/binary/referred-content.js';

/** Younger blobs may belong to a write that is still in progress. In milliseconds. */
const GRACE = 3600_000;

/**
 * Deletes blobs that no version refers to, left by a process that died between storing the content and writing the
 * resource. To be called periodically by one process.
 *
 * @param since blobs put before this time were checked by an earlier sweep; milliseconds since the epoch
 * @returns the number of deleted blobs
 */
export async function sweepBlobs(
  store: Pick<Store, 'blobs' | 'history'>,
  since = 0,
  now: number = Date.now(),
): Promise<number> {
  let deleted = 0;
  for (const { key, put } of await store.blobs.list(BLOB_PREFIX)) {
    if (put < since || put > now - GRACE) continue;
    const id = idOfBlob(key);
    if (id === undefined || (await isReferred(store, id, key.slice(key.lastIndexOf('/') + 1)))) continue;
    await store.blobs.delete(key);
    deleted++;
  }
  return deleted;
}
