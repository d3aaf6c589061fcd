import type { Store } from '../../store/store.js';
import { BINARY, BLOB_PREFIX, idOfBlob } from '../../core/binary/binary-content.js';

/** Younger blobs may belong to a write that is still in progress. In milliseconds. */
const GRACE = 3600_000;

/** Versions of one Binary read per request to the store. */
const PAGE = 1000;

/**
 * Deletes blobs that no version refers to, left by a process that died between storing the content and writing the
 * resource. To be called periodically by one process.
 *
 * @param since blobs put before this time were checked by an earlier sweep; milliseconds since the epoch
 * @returns the number of deleted blobs
 */
export async function sweepBlobs(
  { blobs, history }: Pick<Store, 'blobs' | 'history'>,
  since = 0,
  now: number = Date.now(),
): Promise<number> {
  let deleted = 0;
  for (const { key, put } of await blobs.list(BLOB_PREFIX)) {
    if (put < since || put > now - GRACE) continue;
    const id = idOfBlob(key);
    if (id === undefined || (await isReferred(history, id, key.slice(key.lastIndexOf('/') + 1)))) continue;
    await blobs.delete(key);
    deleted++;
  }
  return deleted;
}

async function isReferred(history: Store['history'], id: string, name: string): Promise<boolean> {
  let after: string | undefined;
  do {
    const page = await history({ type: BINARY, id, count: PAGE, ...(after === undefined ? {} : { after }) });
    if (page.versions.some(({ json }) => json?.includes(name))) return true;
    after = page.next;
  } while (after !== undefined);
  return false;
}
