import type { Yield } from '../fhir/yield-to-event-loop.js';
import { isObject, type JsonObject, type JsonValue } from '../fhir/resource.js';
import type { IndexEntry } from './entry.js';
import { jsonBytes } from './entry-bytes.js';
import type { Unwanted } from './extract.js';
import { fitWords } from './text/fit-words.js';

/** To be raised with every change of the code that finds other resources within the same ones. */
export const CONTAINED_RESOURCES = 2;

/** Resources within one that are found, and that a new one may have: each is written as a resource is. */
export const MOST_CONTAINED = 5000;

/**
 * Name of the entries of contained resources in the index record. The resources within one of any type may have such
 * entries.
 */
export const CONTAINED = '_contained';

/** A resource within another, as it is found. */
export interface Contained {
  readonly type: string;
  /** Within its container. */
  readonly id: string;
  readonly entries: readonly IndexEntry[];
}

/** Contained resources of one resource that are found, with their index entries. */
export interface ContainedExtract {
  readonly contained: readonly Contained[];
  /** Some of them are not found, for want of room. */
  readonly isCut: boolean;
}

/** By what a resource is found some of whose contained ones are not. No name of a search parameter begins with a point. */
const CUT = '.cut';

/** The entry that says so. */
export const CUT_ENTRY: IndexEntry = { kind: 'token', param: CUT, code: CONTAINED };

/** Condition that finds the resources with `CUT_ENTRY`. */
export const IS_CUT = { param: CUT, any: [{ is: 'token', code: CONTAINED }] } as const;

/** Why some of them are not, for who reads it. */
export const CUT_REASON = `more than ${MOST_CONTAINED}, or too much, is contained in it`;

/** https://hl7.org/fhir/R5/datatypes.html#id, `.` and `..` too, which are no ids of places (`isId`): in a fragment they mean nothing else. */
const ID = /^[A-Za-z0-9.-]{1,64}$/;

/** Finds resources within another by their type and id: of several the first; undefined: there is none. */
export function openContained(
  resource: Readonly<Record<string, unknown>>,
): (type: string, id: string) => JsonObject | undefined {
  const found = new Map<string, JsonObject>();
  for (const each of containedIn(resource)) {
    const { resourceType: type, id } = each;
    if (typeof type !== 'string' || typeof id !== 'string') continue;
    const name = `${type}/${id}`;
    if (!found.has(name)) found.set(name, each);
  }
  return (type, id) => found.get(`${type}/${id}`);
}

type Extract = (resource: never, without?: Unwanted) => readonly IndexEntry[];

/**
 * Extracts the index entries of the resources within another, by the built-in parameters alone: the cost of others is
 * not bounded for so many resources. Contained resources without an id are left out, and those whose id an earlier one
 * has, because no reference can name them. Never throws.
 *
 * @param room bytes that their entries may have together as JSON, without words; a contained resource whose entries do
 *   not fit is not found
 */
export function extractContained(
  resource: Readonly<Record<string, unknown>>,
  extract: Extract,
  room: number,
): ContainedExtract {
  const walk = walkContained(resource, extract, room);
  for (;;) {
    const step = walk.next();
    if (step.done === true) return step.value;
  }
}

/** Extracts like `extractContained`, and yields to other work between two contained resources. */
export async function extractContainedYielding(
  resource: Readonly<Record<string, unknown>>,
  extract: Extract,
  room: number,
  pace: Yield,
): Promise<ContainedExtract> {
  const walk = walkContained(resource, extract, room);
  for (;;) {
    const step = walk.next();
    if (step.done === true) return step.value;
    await pace();
  }
}

function* walkContained(
  resource: Readonly<Record<string, unknown>>,
  extract: Extract,
  room: number,
): Generator<void, ContainedExtract> {
  const found = new Map<string, Contained>();
  const seen = new Set<string>();
  let left = room;
  let isCut = false;
  for (const each of containedIn(resource)) {
    const { resourceType: type, id } = each;
    if (typeof type !== 'string' || typeof id !== 'string' || !ID.test(id) || seen.has(id)) continue;
    // Whether it is found or not: nothing else can be meant by its id.
    seen.add(id);
    if (found.size === MOST_CONTAINED) {
      isCut = true;
      break;
    }
    // What has no content needs no room for any but its words.
    const entries = fitWords(extract(each as never, { within: resource }), null, 0);
    const bytes = entries.length === 0 ? 0 : jsonBytes(entries);
    if (bytes > left) isCut = true;
    // Of what is of no type that there is nothing is known.
    else if (entries.length > 0) {
      found.set(id, { type, id, entries });
      left -= bytes;
    }
    yield;
  }
  return { contained: [...found.values()], isCut };
}

/** How many resources are within one, whether they are found or not. */
export function countContained({ contained }: Readonly<Record<string, unknown>>): number {
  return Array.isArray(contained) ? contained.length : 0;
}

/** How many resources within another can be found at most: it costs far less than to find out what they are found by. */
export function countFindable(resource: Readonly<Record<string, unknown>>): number {
  const ids = containedIn(resource).flatMap(({ id }) => (typeof id === 'string' && ID.test(id) ? [id] : []));
  return new Set(ids).size;
}

function containedIn(resource: Readonly<Record<string, unknown>>): readonly JsonObject[] {
  const contained = resource['contained'];
  return Array.isArray(contained) ? (contained as readonly JsonValue[]).filter(isObject) : [];
}
