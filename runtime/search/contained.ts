import { isObject, type JsonObject, type JsonValue } from '../fhir/resource.js';
import type { IndexEntry } from './entry.js';
import type { Extractor } from './extract.js';
import { fitWords } from './text/fit-words.js';

/** To be raised with every change of the code that finds other resources within the same ones. */
export const MEMBERS = 2;

/** Resources that one may have within it: each is written as a resource is. */
export const MOST_CONTAINED = 5000;

/** What the index record calls the entries of contained resources: there are those of all types within the resources of each. */
export const CONTAINED = '_contained';

/**
 * The parameter under which references to what is within the same resource (`#m1`) have their entries: of these only `fragment` is
 * there, and stores make them lead to the member. So nothing but a chain that asks for it finds them.
 */
export function localParam(param: string): string {
  return `${param}#`;
}

/** A resource within another, as it is found. */
export interface Contained {
  readonly type: string;
  /** Within its container. */
  readonly id: string;
  readonly entries: readonly IndexEntry[];
}

/** https://hl7.org/fhir/R5/datatypes.html#id */
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

/**
 * What the resources within another are found by. Those without an id are left out, and those whose id another before them has:
 * nothing can name them. Never throws.
 */
export function extractContained(
  resource: Readonly<Record<string, unknown>>,
  extract: (resource: never) => ReturnType<Extractor> | readonly IndexEntry[],
): readonly Contained[] {
  const found = new Map<string, Contained>();
  for (const each of containedIn(resource)) {
    const { resourceType: type, id } = each;
    if (typeof type !== 'string' || typeof id !== 'string' || !ID.test(id) || found.has(id)) continue;
    // What has no content needs no room for any but its words.
    const entries = fitWords(extract(each as never), null, 0);
    // Of what is of no type that there is nothing is known.
    if (entries.length > 0) found.set(id, { type, id, entries });
  }
  return [...found.values()];
}

/** How many resources within another can be found at most: it costs far less than to find out what they are found by. */
export function countContained(resource: Readonly<Record<string, unknown>>): number {
  const ids = containedIn(resource).flatMap(({ id }) => (typeof id === 'string' && ID.test(id) ? [id] : []));
  return new Set(ids).size;
}

function containedIn(resource: Readonly<Record<string, unknown>>): readonly JsonObject[] {
  const contained = resource['contained'];
  return Array.isArray(contained) ? (contained as readonly JsonValue[]).filter(isObject) : [];
}
