import type { Condition } from '../../../../search/query/query.js';
import { asksForContained, withoutAbsentContained } from '../../../contained-resources.js';
import { BY_TYPE_AND_TIME } from '../../indexes.js';
import { CONTAINED_FIELDS } from '../../write/contained-resources.js';
import type { Snapshot } from '../../read/snapshot.js';

/** Returns a condition without what asks for members of types that there are none of in a snapshot. */
export async function withoutAbsent(snapshot: Snapshot, where: Condition): Promise<Condition> {
  if (!asksForContained(where)) return where;
  const types = await memberTypesIn(snapshot);
  return withoutAbsentContained(where, (type) => types.has(type));
}

/** By one step of the index for each. Mostly there are none, which a query tells in less time. */
async function memberTypesIn(snapshot: Snapshot): Promise<ReadonlySet<string>> {
  const filter = { type: CONTAINED_FIELDS };
  const any = { filter, hint: BY_TYPE_AND_TIME, limit: 1, projection: { _id: 1 } } as const;
  if ((await snapshot.find({ collection: 'resource', ...any })).documents.length === 0) return new Set();
  const pipeline = [{ $match: filter }, { $sort: { type: 1 } }, { $group: { _id: '$type' } }];
  const rows = await snapshot.aggregate('resource', pipeline, BY_TYPE_AND_TIME);
  return new Set(rows.map(({ _id }) => String(_id)));
}
