import type { Document } from 'mongodb';

import type { Batch } from '../read/batch.js';
import type { Ask } from './ask.js';
import { everyOf } from './compile/compile.js';
import { AT, keyAtPlace, type Arm, type KeyPlace } from './plan/access.js';

/** Resources in an arm that are read behind a key of it. */
interface ArmRead {
  readonly arm: Arm;
  /** Absent: from the beginning. */
  readonly after: KeyPlace | undefined;
  /** What they fulfil besides. */
  readonly rest: readonly Document[];
  readonly limit: number;
  readonly projection: Document;
}

/**
 * Reads an arm through a router. That merges what shards answer by a sort alone, so the order of the index has to be one. Keys of one
 * value are in the order of ids, which the index of each shard has: a page reads a page. Keys of several values or of a range are sorted
 * by themselves: a page reads all of the arm on each shard.
 */
export function readMerged(ask: Ask, { arm, after, rest, limit, projection }: ArmRead): Promise<Batch> {
  const { hint, driving } = arm;
  if (isById(arm)) {
    const behind = after === undefined ? [] : [{ _id: { $gt: after.at(-1) } }];
    const filter = everyOf([driving, ...behind, ...rest]);
    const shown = { ...projection, [AT]: { $meta: 'indexKey' } };
    return ask.read({ filter, sort: { _id: 1 }, hint, limit, projection: shown });
  }
  const behind = after === undefined ? [] : [{ $match: { [AT]: { $gt: keyAtPlace(arm, after) } } }];
  const pipeline = [
    { $match: everyOf([driving, ...rest]) },
    { $project: projection },
    { $set: { [AT]: { $meta: 'indexKey' } } },
    ...behind,
    { $sort: { [AT]: 1 } },
    { $limit: limit },
  ];
  return ask.pipeline(pipeline, hint, limit);
}

/** Whether the keys of an arm are in the order of ids. */
function isById({ index, hint, begin, keys }: Arm): boolean {
  if (index === '_id_') return true;
  const behindValue = Object.keys(hint).slice(Object.keys(begin).length + 1);
  return 'values' in keys && keys.values.length === 1 && behindValue.length === 1;
}
