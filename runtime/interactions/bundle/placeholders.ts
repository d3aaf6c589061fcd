import { FhirError } from '../../fhir/errors.js';
import { readReference } from '../../path/reference-text.js';
import { Phase, type Entry } from './entry.js';
import { entryPath } from './entry-error.js';

/** What entries call each other's resources before the server has given them their ids. */
export interface Placeholders {
  /** Whether there are any. */
  readonly size: number;
  /**
   * The entry that a reference is about; undefined: none of this Bundle.
   *
   * @param from the entry that it stands in
   * @throws FhirError `bundle-placeholder` where two entries could be meant
   */
  find(text: string, from: Entry): number | undefined;
}

const AMBIGUOUS = -1;
const URN = /^urn:(?:uuid|oid):/i;

/** Whether a text is of the form that placeholders have. */
export function isUrn(text: string): boolean {
  return text.startsWith('urn:') && URN.test(text);
}

/**
 * Collects what the entries that write are called: their `fullUrl`, which may be `urn:uuid:…`, `urn:oid:…` or the URL of a
 * resource anywhere; and `Type/id`, by that URL or, where there is none, by the id of a resource that is created.
 * https://hl7.org/fhir/R5/bundle.html#references
 *
 * @throws FhirError `bundle-identity` where two entries have the same `fullUrl`
 */
export function collectPlaceholders(entries: readonly Entry[], base: string): Placeholders {
  const byUrl = new Map<string, number>();
  const byName = new Map<string, number>();
  for (const entry of entries) {
    const { index, phase, fullUrl } = entry;
    if (phase !== Phase.Create && phase !== Phase.Update) continue;
    if (fullUrl !== undefined) {
      const key = keyOf(fullUrl);
      const other = byUrl.get(key);
      if (other !== undefined) throw sameUrl(other, index, fullUrl);
      byUrl.set(key, index);
    }
    const name = relativeName(entry);
    if (name !== undefined && name !== ownName(entry)) byName.set(name, byName.has(name) ? AMBIGUOUS : index);
  }
  const named = (text: string, from: Entry): number | undefined => {
    const root = rootOf(from.fullUrl);
    const within = root === undefined ? undefined : byUrl.get(`${root}/${text}`);
    const found = within ?? byName.get(text);
    if (found === AMBIGUOUS) throw ambiguous(text);
    return found;
  };
  const exact = (text: string, from: Entry): number | undefined => {
    if (text.includes(':')) {
      const local = base !== '' && text.startsWith(`${base}/`) ? text.slice(base.length + 1) : undefined;
      return byUrl.get(keyOf(text)) ?? (local === undefined ? undefined : named(local, from));
    }
    return byName.size === 0 && byUrl.size === 0 ? undefined : named(text, from);
  };
  return {
    size: byUrl.size + byName.size,
    find(text, from) {
      const found = exact(text, from);
      if (found !== undefined) return found;
      // Which version it will be nobody knows yet, so that it refers to the resource.
      const version = text.indexOf('/_history/');
      return version < 0 ? undefined : exact(text.slice(0, version), from);
    },
  };
}

/** UUIDs are written in either case. RFC 9562, 4 */
function keyOf(url: string): string {
  return url.startsWith('urn:uuid:') ? url.toLowerCase() : url;
}

function relativeName({ fullUrl, resource, phase }: Entry): string | undefined {
  if (fullUrl !== undefined) {
    const read = readReference(fullUrl);
    return read === undefined ? undefined : `${read.type}/${read.id}`;
  }
  const id = phase === Phase.Create ? resource?.['id'] : undefined;
  return resource === undefined || typeof id !== 'string' ? undefined : `${resource.resourceType}/${id}`;
}

/** The name that an entry writes to anyway: references to it are right as they are. */
function ownName({ route: { interaction, type, id } }: Entry): string | undefined {
  return interaction === 'update' || interaction === 'patch' ? `${type}/${id}` : undefined;
}

/** The base that relative references of an entry are relative to. https://hl7.org/fhir/R5/bundle.html#references */
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

function quote(text: string): string {
  return JSON.stringify(text.length > 128 ? `${text.slice(0, 128)}…` : text);
}
