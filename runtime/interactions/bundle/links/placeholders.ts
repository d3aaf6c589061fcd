import { createHash } from 'node:crypto';

import { FhirError } from '../../../fhir/errors.js';
import { readReference } from '../../../path/reference-text.js';
import { Phase, type Entry } from '../entry.js';
import { entryPath } from '../entry-error.js';
import { baseKey } from '../../../path/base-key.js';
import type { OwnBases } from '../../../path/own-bases.js';
import { isMalformedUrn } from '../../../validate/rules/check-reference.js';
import { quote } from '../../../fhir/quote.js';

/** Names by which entries refer to each other's resources before the server assigns ids. */
export interface Placeholders {
  /** Whether there are any. */
  readonly size: number;
  /**
   * The entry that a reference refers to; undefined if it is no entry of this Bundle.
   *
   * @param from the entry with the reference
   * @throws FhirError `bundle-placeholder` if two entries match
   */
  find(text: string, from: Entry): number | undefined;
  /** The resource of this server that a reference without version refers to; undefined: it refers to none. */
  findStored(text: string, from: Entry): StoredTarget | undefined;
}

/** A resource of this server, and the entry that updates or patches it. */
export interface StoredTarget {
  readonly type: string;
  readonly id: string;
  readonly entry?: number;
}

const AMBIGUOUS = -1;
const URN = /^urn:/i;
const UUID_OR_OID = /^urn:(?:uuid|oid):/i;

/** Whether a text is a URN, which as an identifier can be a placeholder. */
export function isUrn(text: string): boolean {
  return URN.test(text);
}

/** Whether a text has the form of a placeholder, and would lead nowhere without an entry. */
export function isPlaceholder(text: string): boolean {
  return UUID_OR_OID.test(text);
}

/**
 * A placeholder that is a UUID or OID in name only, `urn:uuid:patient`, as a UUID that stands for it; any other text as it is. A
 * fragment is kept.
 */
export function wellFormed(text: string): string {
  if (!isMalformedUrn(text)) return text;
  const [name = '', rest] = text.split(/(#.*)/s);
  const digits = createHash('sha256').update(name).digest('hex').slice(0, 32);
  return `urn:uuid:${digits.replace(/^(.{8})(.{4})(.{4})(.{4})/, '$1-$2-$3-$4-')}${rest ?? ''}`;
}

/**
 * Collects the names of the entries that write: their `fullUrl`, which may be any absolute URI: `urn:uuid:…`, `urn:x:patient`, or
 * the URL of a resource on any server; for a create without a `fullUrl`, the `Type/id` in its resource.
 *
 * An absolute reference refers to the entry with the same URL, a relative one to an entry with the same base: resources of
 * several servers may have the same `Type/id`. https://hl7.org/fhir/R5/bundle.html#references
 *
 * @param own by which references lead to resources here, as relative ones do in entries that have no base of their own
 * @throws FhirError `bundle-identity` if two entries have the same `fullUrl`
 */
export function collectPlaceholders(entries: readonly Entry[], own: OwnBases): Placeholders {
  // What lies on this server is known by its relative URL.
  const keyOf = (url: string): string => own.below(wellFormed(url)) ?? urlKey(url);
  const isElsewhere = (base: string | undefined): boolean => base !== undefined && !own.keys.includes(base);
  const byUrl = new Map<string, number>();
  const byName = new Map<string, number>();
  const ownNames = new Map<number, string>();
  const writers = new Map<string, number>();
  for (const entry of entries) {
    const { index, phase, fullUrl } = entry;
    if (phase !== Phase.Create && phase !== Phase.Update) continue;
    if (fullUrl !== undefined) {
      const key = keyOf(fullUrl);
      const other = byUrl.get(key);
      if (other !== undefined) throw sameUrl(other, index, fullUrl);
      byUrl.set(key, index);
    }
    const name = sentName(entry);
    if (name !== undefined) byName.set(name, byName.has(name) ? AMBIGUOUS : index);
    const target = ownName(entry);
    if (target !== undefined) {
      ownNames.set(index, target);
      writers.set(target, index);
    }
  }
  const size = byUrl.size + byName.size;
  const relative = (text: string, from: Entry): number | undefined => {
    const root = rootOf(from.fullUrl);
    if (root !== undefined) return byUrl.get(isElsewhere(root) ? `${root}/${text}` : text);
    const found = byUrl.get(text) ?? byName.get(text);
    if (found === AMBIGUOUS) throw ambiguous(text);
    return found;
  };
  const exact = (text: string, from: Entry): number | undefined => {
    if (size === 0) return undefined;
    return text.includes(':') ? byUrl.get(keyOf(text)) : relative(text, from);
  };
  return {
    size,
    find(text, from) {
      const found = exact(text, from);
      if (found !== undefined) return found;
      const history = text.indexOf('/_history/');
      if (history < 0) return undefined;
      const name = text.slice(0, history);
      const versioned = exact(name, from);
      // A version on this server exists already and is no link. The version that a new resource will get is unknown to the
      // client, so a reference with a version of it refers to the resource.
      const isLocal = own.below(name) !== undefined || (versioned !== undefined && ownNames.get(versioned) === name);
      return isLocal ? undefined : versioned;
    },
    findStored(text, from) {
      const read = readReference(text);
      if (read === undefined || read.version !== undefined) return undefined;
      // A relative reference of a resource that comes from another server is about a resource there.
      const { type, id, base: root = rootOf(from.fullUrl) } = read;
      if (isElsewhere(root)) return undefined;
      const entry = writers.get(`${type}/${id}`);
      return { type, id, ...(entry !== undefined && { entry }) };
    },
  };
}

/** Lower case for UUIDs and OIDs: UUIDs are case-insensitive. RFC 9562, 4 */
function urlKey(url: string): string {
  const text = wellFormed(url);
  return isPlaceholder(text) ? text.toLowerCase() : baseKey(text);
}

/** The name that a created resource had at its source. */
function sentName({ fullUrl, resource, phase }: Entry): string | undefined {
  const id = fullUrl === undefined && phase === Phase.Create ? resource?.['id'] : undefined;
  return resource === undefined || typeof id !== 'string' ? undefined : `${resource.resourceType}/${id}`;
}

/** `Type/id` in the URL of an update or patch, which does not depend on other entries. */
function ownName({ route: { interaction, type, id } }: Entry): string | undefined {
  return interaction === 'update' || interaction === 'patch' ? `${type}/${id}` : undefined;
}

/** The base of the relative references in an entry. https://hl7.org/fhir/R5/bundle.html#references */
function rootOf(fullUrl: string | undefined): string | undefined {
  return fullUrl === undefined || isUrn(fullUrl) ? undefined : readReference(fullUrl)?.base;
}

function sameUrl(one: number, other: number, fullUrl: string): FhirError {
  const text = `entry[${one}] and entry[${other}] have the same fullUrl ${quote(fullUrl)}; each needs one of its own`;
  return new FhirError('bundle-identity', text, { expression: `${entryPath(other)}.fullUrl` });
}

function ambiguous(name: string): FhirError {
  const text = `${quote(name)} may mean several entries; give each a fullUrl, urn:uuid:…, and refer to that`;
  return new FhirError('bundle-placeholder', text);
}
