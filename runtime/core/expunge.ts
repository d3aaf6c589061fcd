import { readJson } from '../format/read-json.js';
import type { Resource } from '../fhir/resource.js';
import type { Expunge, Store } from '../store/store.js';
import { BINARY, blobKey, pointerOf } from './binary/binary-content.js';
import { isReferred } from './binary/referred-content.js';
import { forgetPublished } from './bulk-data/publication.js';

/** Versions that one step removes, so that other writes get their turn in between. */
const STEP = 1000;

/**
 * Removes versions for good, and the contents of Binaries that only they had. What is published of the type is made anew.
 *
 * @param signal aborts between two steps; what is removed by then stays removed
 * @returns how many versions
 */
export async function expungeVersions(
  asked: Omit<Expunge, 'report'>,
  store: Pick<Store, 'expunge' | 'blobs' | 'history' | 'maps'>,
  signal?: AbortSignal,
): Promise<number> {
  let removed = 0;
  try {
    while (removed < asked.limit) {
      signal?.throwIfAborted();
      const limit = Math.min(STEP, asked.limit - removed);
      const { count, reported } = await store.expunge({ ...asked, limit, report: BINARY });
      removed += count;
      for (const { id, json } of reported) {
        const pointer = json === undefined ? undefined : pointerOf(readJson(json) as Resource);
        // Versions that differ in `meta` alone share a content.
        if (pointer !== undefined && !(await isReferred(store, id, pointer.name))) {
          await store.blobs.delete(blobKey(id, pointer.name));
        }
      }
      if (count < limit) break;
    }
  } finally {
    if (removed > 0) await forgetPublished(store, asked.type);
  }
  return removed;
}
