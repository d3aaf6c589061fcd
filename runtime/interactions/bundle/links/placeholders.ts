import { FhirError } from '../../../fhir/errors.js';
import { readReference } from '../../../path/reference-text.js';
import { Phase, type Entry } from '../entry.js';
import { entryPath } from '../entry-error.js';

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
  return URN.test(text);
}

/**
 * Collects what the entries that write are called: their `fullUrl`, which may be `urn:uuid:…`, `urn:oid:…` or the URL of a
 * resource anywhere; and, where there is none, `Type/id` of a resource that is created.
 *
 * What is absolute is about the entry with this very URL, and what is relative about one with the same base: resources of
 * several servers may have the same `Type/id`. https://hl7.org/fhir/R5/bundle.html#references
 *
 * @param base URL of the FHIR base: what is relative in entries that have no base of their own may be relative to it
 * @throws FhirError `bundle-identity` where two entries have the same `fullUrl`
 */
export function collectPlaceholders(entries: readonly Entry[], base: string): Placeholders {
  const byUrl = new Map<string, number>();
  const byName = new Map<string, number>();
  const ownNames = new Map<number, string>();
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
    const own = ownName(entry);
    if (own !== undefined) ownNames.set(index, own);
  }
  const size = byUrl.size + byName.size;
  const relative = (text: string, from: Entry): number | undefined => {
    const root = rootOf(from.fullUrl);
    if (root !== undefined) return byUrl.get(`${root}/${text}`);
    const found = byUrl.get(text) ?? byUrl.get(`${base}/${text}`) ?? byName.get(text);
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
      // A version of what is here is one that exists. Of what gets its id here nobody knows which one it will be, so that
      // it refers to the resource.
      const isHere = name.startsWith(`${base}/`) || (versioned !== undefined && ownNames.get(versioned) === name);
      return isHere ? undefined : versioned;
    },
  };
}

/** UUIDs are written in either case. RFC 9562, 4 */
function keyOf(url: string): string {
  return isUrn(url) ? url.toLowerCase() : url;
}

/** The name of a resource that is created, as it was where it comes from. */
function sentName({ fullUrl, resource, phase }: Entry): string | undefined {
  const id = fullUrl === undefined && phase === Phase.Create ? resource?.['id'] : undefined;
  return resource === undefined || typeof id !== 'string' ? undefined : `${resource.resourceType}/${id}`;
}

/** The name that an entry writes to, whatever else is in the Bundle. */
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
