import { FhirError } from '../../../fhir/errors.js';
import type { JsonObject, JsonValue, Resource } from '../../../fhir/resource.js';
import { isObject } from '../../../fhir/resource.js';
import type { LinkPlace, LinkPlan } from './link-plan.js';
import { MOST_LINKS, narrativeTargets } from './narrative-links.js';
import { isPlaceholder, isUrn } from './placeholders.js';

/** A value that refers to another entry's resource, or to a resource by criteria. */
export interface Link {
  /** The value is `holder[key]`, in JSON or in the tree of an XML Patch, and may be replaced several times. */
  readonly holder: object;
  readonly key: string | number;
  /** The value that the client sent. */
  readonly text: string;
  readonly to: LinkTarget;
  /** Set if the reference is to name the version that its target has after the transaction. */
  readonly isVersioned?: true;
}

/** The target of a link. */
export type LinkTarget =
  /** The resource of an entry; `rest` follows its name. */
  | { readonly entry: number; readonly rest: string }
  /** The resource that matches the criteria `Type?…`. */
  | { readonly criteria: string }
  /** Narrative: its links, and the entry that each refers to. */
  | { readonly narrative: ReadonlyMap<string, number> }
  /** Text printed from a tree that has the links before this one. */
  | { readonly print: () => string };

/** Functions that recognise references. */
export interface LinkFinder {
  readonly plans: (type: string) => LinkPlan | undefined;
  /** The index of the entry that a text refers to. */
  readonly find: (text: string) => number | undefined;
  /** Criteria `Type?…` of a conditional reference; undefined for other texts. @throws FhirError for an unknown type */
  readonly criteriaOf: (text: string, holder: object, key: string | number) => string | undefined;
  /** Called for a reference `urn:uuid:…` or `urn:oid:…` that is not the `fullUrl` of any entry. */
  readonly onUnknown: (text: string, holder: object, key: string | number) => void;
  /** The target of a reference to a resource of this server, by its type and id. */
  readonly findStored: (text: string) => LinkTarget | undefined;
  /** Whether a Reference asks for the version of its target; takes away what asks. */
  readonly takeVersionRequest: (reference: JsonObject) => boolean;
}

/**
 * All links of a resource, found in one walk. Strings are not links: an identifier keeps its value even if that equals a
 * placeholder. https://hl7.org/fhir/R5/http.html#trules
 */
export function findLinks(resource: Resource, finder: LinkFinder): Link[] {
  const links: Link[] = [];
  walkResource(resource, finder, links);
  return links;
}

/** Finds the links of a nested resource. Values that are not resources have none. */
export function walkResource(value: JsonValue, finder: LinkFinder, out: Link[]): void {
  if (!isObject(value)) return;
  const type = value['resourceType'];
  // References in a nested Bundle, such as a document, are to its own entries and are stored unchanged.
  if (type === 'Bundle') return;
  const plan = typeof type === 'string' ? finder.plans(type) : undefined;
  if (plan !== undefined) walkObject(value, plan, finder, out);
}

function walkObject(object: JsonObject, { places }: LinkPlan, finder: LinkFinder, out: Link[]): void {
  for (const key in object) {
    const place = places.get(key);
    if (place === undefined) continue;
    const value = object[key] as JsonValue;
    if (!Array.isArray(value)) {
      visit(object, key, value, place, finder, out);
      continue;
    }
    for (let i = 0; i < value.length; i++) visit(value, i, value[i] as JsonValue, place, finder, out);
  }
}

/** Finds the links in a member of the given kind. */
export function visit(
  holder: JsonObject | JsonValue[],
  key: string | number,
  value: JsonValue,
  place: LinkPlace,
  finder: LinkFinder,
  out: Link[],
): void {
  if (typeof place === 'object') {
    if (isObject(value)) walkObject(value, place, finder, out);
  } else if (place === 'resource') walkResource(value, finder, out);
  else if (typeof value === 'string') {
    const isVersioned = place === 'reference' && isObject(holder) && finder.takeVersionRequest(holder);
    pushLink(out, { holder, key, text: value, to: targetOf(holder, key, value, place, finder) }, isVersioned, finder);
  }
}

/**
 * Adds a link, unless it leads nowhere.
 *
 * @param isVersioned whether it has to name a version of its target
 * @throws FhirError `transaction-too-large`
 */
export function pushLink(
  out: Link[],
  { to: found, ...link }: Omit<Link, 'to'> & { readonly to: LinkTarget | undefined },
  isVersioned: boolean,
  finder: Pick<LinkFinder, 'findStored'>,
): void {
  const to = found ?? (isVersioned ? finder.findStored(link.text) : undefined);
  if (to === undefined) return;
  if (out.length >= MOST_LINKS) {
    const text = `A resource of a transaction may have ${MOST_LINKS} references to entries, or by criteria; store it in parts`;
    throw new FhirError('transaction-too-large', text);
  }
  out.push({ ...link, to, ...(isVersioned && { isVersioned }) });
}

/** The target of a text of the given kind. */
export function targetOf(
  holder: object,
  key: string | number,
  text: string,
  place: 'reference' | 'name' | 'address' | 'xhtml',
  finder: LinkFinder,
): LinkTarget | undefined {
  if (place === 'xhtml') {
    const narrative = narrativeTargets(text, finder.find);
    return narrative.size === 0 ? undefined : { narrative };
  }
  if (place === 'reference') return referenceTarget(holder, key, text, finder);
  return place === 'address' || isUrn(text) ? findWithRest(text, finder) : undefined;
}

/** The target of the text of a reference. */
export function referenceTarget(
  holder: object,
  key: string | number,
  text: string,
  finder: LinkFinder,
): LinkTarget | undefined {
  // A reference to a contained resource never refers to an entry.
  if (text.startsWith('#')) return undefined;
  const criteria = text.includes('?') ? finder.criteriaOf(text, holder, key) : undefined;
  if (criteria !== undefined) return { criteria };
  const target = findWithRest(text, finder);
  if (target === undefined && isPlaceholder(text)) finder.onUnknown(text, holder, key);
  return target;
}

/** The entry that a URL refers to. Its fragment (`#…`), a position in the resource, is kept as `rest`. */
export function findWithRest(
  text: string,
  { find }: Pick<LinkFinder, 'find'>,
): { readonly entry: number; readonly rest: string } | undefined {
  const whole = find(text);
  if (whole !== undefined) return { entry: whole, rest: '' };
  const hash = text.indexOf('#');
  const entry = hash <= 0 ? undefined : find(text.slice(0, hash));
  return entry === undefined ? undefined : { entry, rest: text.slice(hash) };
}
