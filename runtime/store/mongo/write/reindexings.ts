import type { Causal } from '../read/causal.js';
import type { Collections } from '../bson/documents.js';

/** `_id` of the setting that numbers the reindexings. */
export const REINDEXINGS = 'reindexings';

/**
 * Notes that index entries of versions were replaced, after that: the order of matches that any process remembers may no longer be right.
 *
 * @param time how long it may take, in milliseconds
 */
export async function noteReindexing(
  { setting }: Pick<Collections, 'setting'>,
  causal: Causal,
  time: number,
): Promise<void> {
  const filter = { _id: REINDEXINGS };
  await causal.write((session) =>
    setting.updateOne(filter, { $inc: { value: 1 } }, { session, maxTimeMS: time, upsert: true }),
  );
}
