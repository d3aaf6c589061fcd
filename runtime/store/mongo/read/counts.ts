import { BY_TYPE_AND_TIME, DELETED } from '../indexes.js';
import { PLAIN } from '../write/contained-resources.js';
import { translateMongoError } from '../mongo-errors.js';
import type { QueryLimits, Snapshot, Snapshots } from './snapshot.js';

/** Counts what lives, by type: all that there is, less the deletions, both by an index alone. */
export function openCounts(snapshots: Snapshots): (limits: QueryLimits) => Promise<Map<string, number>> {
  return async (limits) => {
    try {
      return await snapshots.run(limits, count);
    } catch (error) {
      throw translateMongoError(error);
    }
  };
}

async function count(snapshot: Snapshot): Promise<Map<string, number>> {
  const group = { $group: { _id: '$type', n: { $sum: 1 } } };
  const [all, deleted] = await Promise.all([
    snapshot.aggregate('resource', [{ $match: { type: PLAIN } }, group], BY_TYPE_AND_TIME),
    snapshot.aggregate('resource', [{ $match: { deleted: true, type: { $gte: '' } } }, group], DELETED),
  ]);
  const counts = new Map(all.map((row) => [String(row['_id']), Number(row['n'])]));
  for (const row of deleted) {
    const type = String(row['_id']);
    counts.set(type, (counts.get(type) ?? 0) - Number(row['n']));
  }
  return new Map([...counts].filter(([, n]) => n > 0).sort(([a], [b]) => (a < b ? -1 : 1)));
}
