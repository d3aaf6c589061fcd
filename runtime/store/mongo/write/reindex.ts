import type { AnyBulkWriteOperation } from 'mongodb';

import { append } from '../../../fhir/lists.js';
import { placeEntries } from '../../contained-resources.js';
import { SORT_SLOTS } from '../../../contract/search.js';
import { FhirError } from '../../../fhir/errors.js';
import type { Reindexed } from '../../store.js';
import { cutByMembers } from '../../write-contained.js';
import { moreTime } from '../../write-time.js';
import { answered } from '../read/answered.js';
import { keyOf, type ResourceDocument } from '../bson/documents.js';
import { commandOptions, SLACK, type CommandOptions } from './command-options.js';
import { toIndexRows } from '../bson/index-rows.js';
import { chunksOf } from '../query/links/read-all.js';
import { replaceContained, toContained, toWithin } from './contained-resources.js';
import { slotFields, toSortSlots, type SlotOf } from '../bson/sort-slots.js';
import { VERSION_ONLY } from '../bson/stored-version.js';
import type { WriterParts } from './writer-parts.js';

/** Parts of the store that reindexing works with. */
export type ReindexParts = Pick<WriterParts, 'collections' | 'causal' | 'transactions' | 'slotOf' | 'time'>;

/** What members have of their container, and what those before were. */
const HEAD = { type: 1, id: 1, version: 1, updated: 1, n: 1, within: 1, deleted: 1, amended: 1 } as const;

/** Most containers and contained resources replaced in one transaction. Small batches rarely conflict with concurrent writes. */
const AT_ONCE = { containers: 50, members: 1000 };

/** Fields that hold what searches find and sort a resource by. */
const FIELDS = [
  'within',
  ...Object.keys(VERSION_ONLY),
  ...Array.from({ length: SORT_SLOTS }, (_, slot) => Object.values(slotFields(slot))).flat(),
];

/**
 * Replaces index entries, each in one update that requires the version to be as it was read. So it can be repeated, and a concurrent
 * write does not conflict. What has others within it is replaced with these, a few in one transaction. What does not fit into
 * a document any more rejects, when the others are done.
 *
 * @param time how long each command and transaction may take, in milliseconds; one with much within it may take longer
 */
export function openReindex({
  collections: { resource },
  causal,
  transactions,
  slotOf,
  time,
}: ReindexParts): (items: readonly Reindexed[]) => Promise<number> {
  async function replace(items: readonly Reindexed[]): Promise<number> {
    if (items.length === 0) return 0;
    const steps = items.map((item) => ({ updateOne: toUpdate(item, slotOf) }));
    const deadline = performance.now() + time - SLACK;
    const { matchedCount } = await answered(
      time,
      causal.write((session) => resource.bulkWrite(steps, { ...commandOptions(session, deadline)(), ordered: false })),
    );
    return matchedCount;
  }

  async function replaceWhole(items: readonly Reindexed[], given: CommandOptions): Promise<number> {
    const found = await resource.find({ _id: { $in: items.map(keyOf) } }, { ...given(), projection: HEAD }).toArray();
    const documents = new Map(found.map((document) => [document._id, document]));
    const current = items.flatMap((item) => {
      const before = documents.get(keyOf(item));
      if (before?.version !== item.version || before.deleted === true) return [];
      return before.amended === item.amended ? [{ item, before }] : [];
    });
    if (current.length === 0) return 0;
    const steps = current.map(({ item }) => ({ updateOne: toUpdate(item, slotOf) }));
    await resource.bulkWrite(steps, given());
    const left = current.map(({ before: { _id: key, within = [] } }) => ({ key, within }));
    const members = current.flatMap(({ item, before }) => toContained(before, item.contained, slotOf));
    await replaceContained(resource, left, members, given);
    return current.length;
  }

  /** All that can be; what is at fault then rejects. */
  async function replaceContainers(items: readonly Reindexed[]): Promise<number> {
    const pieces = cutByMembers(items, membersOf, AT_ONCE.members);
    const left = [...pieces].flatMap((piece) => [...chunksOf(piece, AT_ONCE.containers)]);
    let replaced = 0;
    let fault: unknown;
    for (const piece of left) {
      const more = moreTime(piece.length, piece.reduce((sum, item) => sum + membersOf(item), 0)); // prettier-ignore
      try {
        replaced += await transactions.run((_session, given) => replaceWhole(piece, given), performance.now() + time + more); // prettier-ignore
      } catch (error) {
        if (error instanceof FhirError && error.status >= 500) throw error;
        if (piece.length === 1) fault ??= error;
        else append(left, [...chunksOf(piece, Math.ceil(piece.length / 2))]);
      }
    }
    if (fault !== undefined) throw fault;
    return replaced;
  }

  /** Which of them have, or had, others within them. */
  async function findContainers(items: readonly Reindexed[]): Promise<ReadonlySet<string>> {
    const keys = items.map(keyOf);
    const had = await answered(
      time,
      causal.read((session) =>
        resource
          .find({ _id: { $in: keys }, within: { $exists: true } }, { session, maxTimeMS: time, projection: { _id: 1 } })
          .toArray(),
      ),
    );
    const has = items.filter(({ contained = [] }) => contained.length > 0);
    return new Set([...had.map(({ _id }) => _id), ...has.map(keyOf)]);
  }

  return async (items) => {
    if (items.length === 0) return 0;
    const containers = await findContainers(items);
    const replaced = await replace(items.filter((item) => !containers.has(keyOf(item))));
    return replaced + (await replaceContainers(items.filter((item) => containers.has(keyOf(item)))));
  };
}

function membersOf({ contained = [] }: Reindexed): number {
  return contained.length;
}

type UpdateOne = Extract<AnyBulkWriteOperation<ResourceDocument>, { updateOne: unknown }>['updateOne'];

function toUpdate({ type, id, version, amended, entries: read, contained }: Reindexed, slotOf: SlotOf): UpdateOne {
  const entries = placeEntries({ type, id }, contained)(read);
  const rows = { ...toIndexRows(entries), ...toSortSlots(type, entries, slotOf) };
  const present: Readonly<Record<string, unknown>> = { ...rows, ...toWithin(contained) };
  const absent = FIELDS.filter((field) => !Object.hasOwn(present, field));
  const isCurrent = {
    _id: keyOf({ type, id }),
    version,
    deleted: { $exists: false },
    amended: amended ?? { $exists: false },
  } as const;
  const $unset = Object.fromEntries(absent.map((field) => [field, true]));
  return { filter: isCurrent, update: { ...(Object.keys(present).length > 0 && { $set: present }), $unset } as never };
}
