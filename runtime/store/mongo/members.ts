import type { Document } from 'mongodb';

import type { Contained } from '../../search/contained.js';
import { idsWithin, membersIn, memberType, placeOfMember, plainType } from '../members.js';
import { fieldsOf, readValue, type Field, type Raw } from './bson.js';
import { keyOf, type Collections, type ResourceDocument, type VersionFields } from './documents.js';
import type { InTime } from './in-time.js';
import { toIndexRows } from './index-rows.js';
import { toSortSlots, type SlotOf } from './sort-slots.js';

/** Types of resources, which begin with a letter. */
export const PLAIN: Document = { $gte: 'A' };

/** All others. */
export const MEMBERS: Document = { $lt: 'A' };

/** Documents that one command writes. */
const AT_ONCE = 500;

/** What a resource's document says of what is within it. */
export function toWithin(contained: readonly Contained[] = []): Pick<ResourceDocument, 'within'> {
  if (contained.length === 0) return {};
  return { within: [...new Set(contained.map(({ type }) => type))].sort() };
}

/** Types of what is within a version. */
export function withinOf(
  bytes: Raw,
  { fields }: { readonly fields: ReadonlyMap<string, Field> } = { fields: fieldsOf(bytes) },
): readonly string[] {
  const field = fields.get('within');
  return field === undefined ? [] : (readValue(bytes, field) as readonly string[]);
}

/** The documents of what is within a version. */
export function toMembers(
  { type, id, version, updated, n }: VersionFields,
  contained: readonly Contained[] = [],
  slotOf: SlotOf,
): readonly ResourceDocument[] {
  return membersIn({ type, id }, contained).map(({ entries, ...member }) => ({
    _id: keyOf(member),
    ...member,
    ...{ version, updated, n },
    ...toIndexRows(entries),
    ...toSortSlots(member.type, entries, slotOf),
  }));
}

/**
 * Deletes what was within resources, and puts in what is now. Of the types of that it deletes all: a program that did not know what is
 * within resources may have left some behind.
 *
 * @param left by the `_id` of the resources
 */
export async function replaceMembers(
  resource: Collections['resource'],
  left: readonly { readonly key: string; readonly within: readonly string[] }[],
  members: readonly ResourceDocument[],
  given: InTime,
): Promise<void> {
  const types = new Map<string, Set<string>>();
  const add = (key: string, type: string): void =>
    void (types.get(key) ?? types.set(key, new Set()).get(key)!).add(type);
  for (const { key, within } of left) for (const type of within) add(key, type);
  for (const { type, id } of members) add(keyOf(placeOfMember(id)), plainType(type));
  const ranges = [...types].flatMap(([key, within]) => [...within].map((type) => rangeOf(key, type)));
  for (let at = 0; at < ranges.length; at += AT_ONCE) {
    await resource.deleteMany({ $or: ranges.slice(at, at + AT_ONCE) }, given());
  }
  for (let at = 0; at < members.length; at += AT_ONCE) {
    await resource.insertMany(members.slice(at, at + AT_ONCE), given());
  }
}

/** Gives what is within resources the times of these. */
export async function restampMembers(
  resource: Collections['resource'],
  containers: readonly ResourceDocument[],
  given: InTime,
): Promise<void> {
  for (const { _id, updated, n, within = [] } of containers) {
    for (const type of within) await resource.updateMany(rangeOf(_id, type), { $set: { updated, n } }, given());
  }
}

function rangeOf(key: string, type: string): { readonly _id: Document } {
  const at = key.indexOf('/');
  const { from, to } = idsWithin({ type: key.slice(0, at), id: key.slice(at + 1) });
  const [$gte, $lt] = [from, to].map((id) => keyOf({ type: memberType(type), id }));
  return { _id: { $gte, $lt } };
}
