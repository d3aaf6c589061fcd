import type { Document } from 'mongodb';

import { append } from '../../../fhir/lists.js';
import type { Contained } from '../../../indexing/contained.js';
import { containedIds, containedIn, containedType, placeOfContained, plainType } from '../../contained-resources.js';
import { compareText } from '../../../search/query/compare-text.js';
import { fieldsOf, readValue, type Field, type Raw } from '../bson/bson.js';
import { keyOf, type Collections, type ResourceDocument, type VersionFields } from '../bson/documents.js';
import type { CommandOptions } from './command-options.js';
import { toIndexRows } from '../bson/index-rows.js';
import { toSortSlots, type SlotOf } from '../bson/sort-slots.js';

/** Types of resources, which begin with a letter. */
export const PLAIN: Document = { $gte: 'A' };

/** All others. */
export const CONTAINED_FIELDS: Document = { $lt: 'A' };

/** What one command writes. */
const MOST = { documents: 100, ranges: 500 };

/** Returns the field of a resource's document that lists the types of the resources within it. */
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
export function toContained(
  { type, id, version, updated, n }: VersionFields,
  contained: readonly Contained[] = [],
  slotOf: SlotOf,
): readonly ResourceDocument[] {
  return containedIn({ type, id }, contained).map(({ entries, ...member }) => ({
    _id: keyOf(member),
    ...member,
    ...{ version, updated, n },
    ...toIndexRows(entries),
    ...toSortSlots(member.type, entries, slotOf),
  }));
}

/**
 * Deletes what was within resources, and what others may have left there, and puts in what is now. By a few at a time, in the order
 * of the index: to insert something the server looks past all that the same transaction has deleted behind it.
 *
 * @param left by the `_id` of the resources
 */
export async function replaceContained(
  resource: Collections['resource'],
  left: readonly { readonly key: string; readonly within: readonly string[] }[],
  members: readonly ResourceDocument[],
  given: CommandOptions,
): Promise<void> {
  for (const { ranges, documents } of cutRanges(rangesOf(left, members))) {
    await resource.deleteMany({ $or: ranges.map(({ from, to }) => ({ _id: { $gte: from, $lt: to } })) }, given());
    if (documents.length > 0) await resource.insertMany(documents, given());
  }
}

/** A stretch of `_id`, and what is to be there, in order. */
interface Range {
  readonly from: string;
  readonly to: string;
  readonly documents: readonly ResourceDocument[];
}

/** One of each resource and each type that was, or is to be, within it. */
function rangesOf(
  left: readonly { readonly key: string; readonly within: readonly string[] }[],
  members: readonly ResourceDocument[],
): readonly Range[] {
  const ranges = new Map<string, { from: string; to: string; documents: ResourceDocument[] }>();
  const at = (key: string, type: string) => {
    const range = rangeOf(key, type);
    const known = ranges.get(range.from) ?? { ...range, documents: [] };
    ranges.set(range.from, known);
    return known;
  };
  for (const { key, within } of left) for (const type of within) at(key, type);
  for (const member of members) at(keyOf(placeOfContained(member.id)), plainType(member.type)).documents.push(member);
  for (const { documents } of ranges.values()) documents.sort((a, b) => compareText(a._id, b._id));
  return [...ranges.values()].sort((a, b) => compareText(a.from, b.from));
}

/** Pieces of what is to be done, none of which has many documents or ranges. */
function* cutRanges(
  ranges: readonly Range[],
): Generator<{ readonly ranges: readonly Range[]; readonly documents: readonly ResourceDocument[] }> {
  let piece: Range[] = [];
  let documents: ResourceDocument[] = [];
  for (const { from, to, documents: all } of ranges) {
    for (let at = 0; at === 0 || at < all.length;) {
      const some = all.slice(at, at + MOST.documents - documents.length);
      const next = at + some.length;
      const begin = at === 0 ? from : all[at]!._id;
      piece.push({ from: begin, to: all[next]?._id ?? to, documents: some });
      append(documents, some);
      at = Math.max(next, 1);
      if (documents.length < MOST.documents && piece.length < MOST.ranges) continue;
      yield { ranges: piece, documents };
      [piece, documents] = [[], []];
    }
  }
  if (piece.length > 0) yield { ranges: piece, documents };
}

/** Gives what is within resources the times of these. */
export async function restampContained(
  resource: Collections['resource'],
  containers: readonly ResourceDocument[],
  given: CommandOptions,
): Promise<void> {
  for (const { _id, updated, n, within = [] } of containers) {
    for (const type of within) {
      const { from, to } = rangeOf(_id, type);
      await resource.updateMany({ _id: { $gte: from, $lt: to } }, { $set: { updated, n } }, given());
    }
  }
}

function rangeOf(key: string, type: string): { readonly from: string; readonly to: string } {
  const at = key.indexOf('/');
  const { from, to } = containedIds({ type: key.slice(0, at), id: key.slice(at + 1) });
  const idOf = (id: string): string => keyOf({ type: containedType(type), id });
  return { from: idOf(from), to: idOf(to) };
}
