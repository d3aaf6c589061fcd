import { formatInstant } from '../../fhir/instant.js';
import { stampBody } from '../body.js';
import type { Change, StoredVersion } from '../store.js';
import { keyOf, pastKeyOf } from './documents.js';
import type { WriterParts } from './writer-parts.js';

/**
 * Stamps anew what was answered late: it may have been committed so late that a history page was called complete up to a
 * time after its stamp. Whoever waited for the slow server waits a little longer.
 */
export function openRestamper({
  collections: { resource, history },
  transactions,
  stamps,
}: Pick<WriterParts, 'collections' | 'transactions' | 'stamps'>): (
  changes: readonly Change[],
  written: readonly StoredVersion[],
  deadline: number,
) => Promise<StoredVersion[]> {
  return (changes, written, deadline) =>
    transactions.run(async (session) => {
      const times = stamps.begin();
      const again: StoredVersion[] = [];
      for (const [i, stored] of written.entries()) {
        const key = keyOf(stored);
        const { updated, n } = times.next(stored.lastUpdated);
        // One that was followed by another already has to stay before that one.
        const { matchedCount } = await resource.updateOne(
          { _id: key, version: stored.version },
          {
            $set: {
              updated: new Date(updated),
              n,
              ...(stored.json === undefined ? {} : { 'resource.meta.lastUpdated': formatInstant(updated) }),
            },
          },
          { session },
        );
        if (matchedCount === 0) {
          again.push(stored);
          continue;
        }
        await history.updateOne(
          { _id: pastKeyOf(key, stored.version - 1) },
          { $set: { until: new Date(updated) } },
          { session },
        );
        const body = changes[i]?.body;
        const { json: _json, ...head } = { ...stored, lastUpdated: updated };
        again.push(body === undefined ? head : { ...head, json: stampBody(body, stored.version, updated) });
      }
      return again;
    }, deadline);
}
