import { BSON } from 'mongodb';

import { formatInstant } from '../../fhir/instant.js';
import { stampBody } from '../body.js';
import { VersionConflict, type Change, type StoredVersion } from '../store.js';
import { readValue, type Raw } from './bson.js';
import { keyOf, pastKeyOf, type PastDocument, type ResourceDocument, type VersionFields } from './documents.js';
import { toIndexRows } from './index-rows.js';
import { tooLarge } from './mongo-errors.js';
import { toSortSlots, type SlotOf } from './sort-slots.js';
import type { Stamp, StampsOfWrite } from './stamps.js';
import { readHead } from './stored-version.js';
import { toStorable, type Storable } from './to-storable.js';

/**
 * Greatest size of a document, in bytes; less what it grows by when it becomes a past version, so that what can be stored
 * can be replaced. https://www.mongodb.com/docs/manual/reference/limits/
 */
const MAX_DOCUMENT = 16 * 1024 * 1024 - 256;

/** A document of fewer characters and index entries is far below the limit, and need not be measured. */
const SURELY_SMALL = { characters: 512 * 1024, entries: 20_000 };

/** What a write does to the collections. */
export interface WritePlan {
  /** Versions that are current no more. */
  readonly past: readonly PastDocument[];
  /** Current versions, and which they replace; 0: none. */
  readonly current: readonly { readonly document: ResourceDocument; readonly replaced: number }[];
  /** What was written, in the order of the changes. */
  readonly written: readonly StoredVersion[];
}

interface State {
  /** The version before this write; 0: none. */
  readonly replaced: number;
  readonly fields: VersionFields;
  /** Absent: what was there before. */
  readonly document?: ResourceDocument;
}

/**
 * What the changes come to, on these current versions.
 *
 * @throws VersionConflict
 * @throws FhirError where MongoDB cannot hold a resource
 */
export function planWrite(
  changes: readonly Change[],
  before: readonly Raw[],
  stamps: StampsOfWrite,
  slotOf: SlotOf,
): WritePlan {
  const states = new Map<string, State>();
  for (const bytes of before) {
    const fields = copyVersion(bytes);
    states.set(keyOf(fields), { replaced: fields.version, fields });
  }
  const past: PastDocument[] = [];
  const written = changes.map((change): StoredVersion => {
    const key = keyOf(change);
    const state = states.get(key);
    const actual = state?.fields.version ?? 0;
    if (actual !== change.expected) throw new VersionConflict(change.type, change.id, change.expected, actual);
    const stamp = stamps.next(state?.fields.updated.getTime());
    if (state !== undefined) past.push(toPast(state.fields, stamp.updated));
    const { document, fields, stored } = toDocument(change, actual + 1, stamp, slotOf);
    states.set(key, { replaced: state?.replaced ?? 0, fields, document });
    return stored;
  });
  const current = [...states.values()].flatMap(({ document, replaced }) =>
    document === undefined ? [] : [{ document, replaced }],
  );
  return { past, current, written };
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
  const rows = { ...toIndexRows(change.entries), ...toSortSlots(type, change.entries, slotOf) };
  const document = { _id: keyOf(change), ...fields, ...rows };
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
  const rest = ['deleted', 'resource', 'numbers'].flatMap((name) => {
    const field = fields.get(name);
    return field === undefined ? [] : [[name, readValue(bytes, field)] as const];
  });
  return { type, id, version, updated: new Date(updated), n, ...Object.fromEntries(rest) };
}
