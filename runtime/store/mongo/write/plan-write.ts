import { BSON } from 'mongodb';

import { placeEntries } from '../../contained-resources.js';
import { formatInstant } from '../../../fhir/instant.js';
import { stampBody } from '../../body.js';
import { VersionConflict, type Change, type StoredVersion } from '../../store.js';
import { readValue, type Raw } from '../bson/bson.js';
import { keyOf, pastKeyOf, type PastDocument, type ResourceDocument, type VersionFields } from '../bson/documents.js';
import { toIndexRows } from '../bson/index-rows.js';
import { toContained, toWithin, withinOf } from './contained-resources.js';
import { tooLarge } from '../mongo-errors.js';
import { toSortSlots, type SlotOf } from '../bson/sort-slots.js';
import type { Stamp, StampsOfWrite } from './stamps.js';
import { amendmentsOf, readHead, type Head } from '../bson/stored-version.js';
import { toStorable, type Storable } from '../bson/to-storable.js';

/**
 * Greatest size of a document, in bytes; less what it grows by when it becomes a past version, so that what can be stored
 * can be replaced. https://www.mongodb.com/docs/manual/reference/limits/
 */
const MAX_DOCUMENT = 16 * 1024 * 1024 - 256;

/** A document of fewer characters and index entries is far below the limit, and need not be measured. */
const SURELY_SMALL = { characters: 512 * 1024, entries: 20_000 };

/** Plan of one change: which version it makes, when, and after which other. */
export interface PlannedChange {
  readonly change: Change;
  readonly version: number;
  readonly stamp: Stamp;
  /** The version before this write, of the first change of a resource; absent: there was none. */
  readonly before?: Raw;
  /** What is there before this write; 0: nothing. */
  readonly replaced: number;
  /** Types of what is within the version before this write. */
  readonly within: readonly string[];
  /** Another change of this write follows on the same resource, at this time. */
  readonly until?: number;
}

/** A version that is there before a write. */
export interface FoundVersion extends Pick<Head, 'version' | 'updated'> {
  /** How often it was amended. */
  readonly amended: number;
  /** Types of what is within it. */
  readonly within: readonly string[];
  readonly bytes: Raw;
}

/** Reads what a write has to know of a version. */
export function toFound(bytes: Raw): FoundVersion & { readonly key: string } {
  const head = readHead(bytes);
  const { version, updated } = head;
  return { key: keyOf(head), version, updated, amended: amendmentsOf(bytes, head.fields), within: withinOf(bytes, head), bytes }; // prettier-ignore
}

/**
 * Plans the changes of a write on these current versions: version numbers and times. The documents are made later, a
 * few at a time.
 *
 * @param found by `_id`
 * @throws VersionConflict
 */
export function planWrite(
  changes: readonly Change[],
  found: ReadonlyMap<string, FoundVersion>,
  stamps: StampsOfWrite,
): readonly PlannedChange[] {
  const last = new Map<string, number>();
  const planned: PlannedChange[] = [];
  for (const change of changes) {
    const key = keyOf(change);
    const head = found.get(key);
    const place = last.get(key);
    const previous = place === undefined ? undefined : planned[place];
    const actual = previous?.version ?? head?.version ?? 0;
    const amended = previous === undefined ? head?.amended : 0;
    if (actual !== change.expected || (amended ?? 0) !== (change.amended ?? 0)) {
      throw new VersionConflict(change.type, change.id, change.expected, actual);
    }
    const stamp = stamps.next(previous?.stamp.updated ?? head?.updated);
    if (place !== undefined && previous !== undefined) planned[place] = { ...previous, until: stamp.updated };
    last.set(key, planned.length);
    planned.push({
      change,
      version: actual + 1,
      stamp,
      replaced: head?.version ?? 0,
      within: head?.within ?? [],
      ...(head !== undefined && previous === undefined && { before: head.bytes }),
    });
  }
  return planned;
}

/** Documents by which some changes alter the collections. */
export interface WriteStep {
  /** Versions that are current no more. */
  readonly past: readonly PastDocument[];
  /** Current versions, and which they replace; 0: none. */
  readonly current: readonly { readonly document: ResourceDocument; readonly replaced: number }[];
  /** What was within versions that are current no more, by the `_id` of these. */
  readonly left: readonly { readonly key: string; readonly within: readonly string[] }[];
  /** What is within the current versions. */
  readonly members: readonly ResourceDocument[];
  /** What is written, in the order of the changes. */
  readonly written: readonly StoredVersion[];
}

/** The documents of some changes. @throws FhirError where MongoDB cannot hold a resource */
export function toStep(planned: readonly PlannedChange[], slotOf: SlotOf): WriteStep {
  const past: PastDocument[] = [];
  const current: { document: ResourceDocument; replaced: number }[] = [];
  const left: { key: string; within: readonly string[] }[] = [];
  const members: ResourceDocument[] = [];
  const written = planned.map(({ change, version, stamp, before, replaced, within, until }): StoredVersion => {
    if (before !== undefined) past.push(toPast(copyVersion(before), stamp.updated));
    const { document, fields, stored } = toDocument(change, version, stamp, slotOf);
    if (until !== undefined) past.push({ ...toPast(fields, until), interim: true });
    else {
      current.push({ document, replaced });
      if (within.length > 0) left.push({ key: document._id, within });
      for (const member of toContained(fields, change.body && change.contained, slotOf)) members.push(member);
    }
    return stored;
  });
  return { past, current, left, members, written };
}

/**
 * The document of a change, as the current version.
 *
 * @throws FhirError where MongoDB cannot hold it
 */
export function toDocument(
  change: Change,
  version: number,
  { updated, n }: Stamp,
  slotOf: SlotOf,
): { readonly document: ResourceDocument; readonly fields: VersionFields; readonly stored: StoredVersion } {
  const { type, id, body } = change;
  const stored = { type, id, version, lastUpdated: updated };
  if (body === undefined) {
    const fields = toFields(stored, n);
    return { document: { _id: keyOf(change), ...fields }, fields, stored };
  }
  const stamp = { versionId: String(version), lastUpdated: formatInstant(updated) };
  const fields = toFields(stored, n, toStorable(change.content, stamp));
  const entries = placeEntries(change, change.contained)(change.entries);
  const rows = { ...toIndexRows(entries), ...toSortSlots(type, entries, slotOf) };
  const document = { _id: keyOf(change), ...fields, ...rows, ...toWithin(change.contained) };
  checkSize(document, body.head.length + body.tail.length, change.entries.length);
  return { document, fields, stored: { ...stored, json: stampBody(body, version, updated) } };
}

/** The fields of a version; without a content it is a deletion. */
export function toFields(
  { type, id, version, lastUpdated }: StoredVersion,
  n: number,
  content?: Storable,
): VersionFields {
  const head = { type, id, version, updated: new Date(lastUpdated), n };
  return content === undefined ? { ...head, deleted: true } : { ...head, ...content };
}

/** A version that another follows. */
export function toPast(fields: VersionFields, until: number): PastDocument {
  return { _id: pastKeyOf(keyOf(fields), fields.version), ...fields, until: new Date(until) };
}

/** @throws FhirError where a document is larger than MongoDB takes */
export function checkSize(document: object, characters: number, entries: number): void {
  if (characters <= SURELY_SMALL.characters && entries <= SURELY_SMALL.entries) return;
  if (BSON.calculateObjectSize(document, { ignoreUndefined: true }) > MAX_DOCUMENT) throw tooLarge();
}

/** The fields of a version without its index entries, to be written again as they are. */
export function copyVersion(bytes: Raw): VersionFields {
  const { fields, type, id, version, updated, n } = readHead(bytes);
  const rest = ['deleted', 'resource', 'numbers', 'amended'].flatMap((name) => {
    const field = fields.get(name);
    return field === undefined ? [] : [[name, readValue(bytes, field)] as const];
  });
  return { type, id, version, updated: new Date(updated), n, ...Object.fromEntries(rest) };
}
