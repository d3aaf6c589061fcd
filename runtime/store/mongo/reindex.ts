import type { AnyBulkWriteOperation } from 'mongodb';

import { SORT_SLOTS } from '../../contract/search.js';
import type { Reindexed } from '../store.js';
import { answered } from './answered.js';
import type { Causal } from './causal.js';
import { keyOf, type Collections, type ResourceDocument } from './documents.js';
import { inTime, SLACK } from './in-time.js';
import { toIndexRows } from './index-rows.js';
import { slotFields, toSortSlots, type SlotOf } from './sort-slots.js';
import { VERSION_ONLY } from './stored-version.js';

/** Fields that hold what searches find and sort a resource by. */
const FIELDS = [
  ...Object.keys(VERSION_ONLY),
  ...Array.from({ length: SORT_SLOTS }, (_, slot) => Object.values(slotFields(slot))).flat(),
];

/**
 * Replaces index entries, each in one update of what is at that version still: so it can be done again, and whoever writes
 * meanwhile is not in the way. What does not fit into a document any more rejects, when the others are done.
 *
 * @param time how long it may take, in milliseconds
 */
export function openReindex(
  { resource }: Collections,
  causal: Causal,
  slotOf: SlotOf,
  time: number,
): (items: readonly Reindexed[]) => Promise<number> {
  return async (items) => {
    if (items.length === 0) return 0;
    const steps = items.map((item) => ({ updateOne: toUpdate(item, slotOf) }));
    const deadline = performance.now() + time - SLACK;
    const { matchedCount } = await answered(
      time,
      causal.write((session) => resource.bulkWrite(steps, { ...inTime(session, deadline)(), ordered: false })),
    );
    return matchedCount;
  };
}

type UpdateOne = Extract<AnyBulkWriteOperation<ResourceDocument>, { updateOne: unknown }>['updateOne'];

function toUpdate({ type, id, version, entries }: Reindexed, slotOf: SlotOf): UpdateOne {
  const present: Readonly<Record<string, unknown>> = { ...toIndexRows(entries), ...toSortSlots(type, entries, slotOf) };
  const absent = FIELDS.filter((field) => !Object.hasOwn(present, field));
  const isCurrent = { _id: keyOf({ type, id }), version, deleted: { $exists: false } } as const;
  const $unset = Object.fromEntries(absent.map((field) => [field, true]));
  return { filter: isCurrent, update: { ...(Object.keys(present).length > 0 && { $set: present }), $unset } as never };
}
