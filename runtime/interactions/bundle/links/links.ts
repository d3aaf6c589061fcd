import type { JsonObject, JsonValue, Resource } from '../../../fhir/resource.js';
import { isObject } from '../../../fhir/resource.js';
import type { LinkPlace, LinkPlan } from './link-plan.js';
import { narrativeTargets } from './narrative-links.js';
import { isUrn } from './placeholders.js';

/** A value that names another entry's resource, or a search that finds it. */
export interface Link {
  /** Where it stands: `holder[key]`, in JSON or in the tree of an XML Patch, to be written again and again. */
  readonly holder: object;
  readonly key: string | number;
  /** As it was sent. */
  readonly text: string;
  readonly to: LinkTarget;
}

/** What a link leads to. */
export type LinkTarget =
  /** The resource of an entry; `rest` follows its name. */
  | { readonly entry: number; readonly rest: string }
  /** What the criteria `Type?…` find. */
  | { readonly criteria: string }
  /** Narrative, in which the links are that stand here. */
  | { readonly narrative: ReadonlyMap<string, number> }
  /** What is printed of a tree that the links before this one stand in. */
  | { readonly print: () => string };

/** How references are recognised. */
export interface LinkFinder {
  readonly plans: (type: string) => LinkPlan | undefined;
  /** The entry that a text is about. */
  readonly find: (text: string) => number | undefined;
  /** Criteria `Type?…`, where the text of a reference is a conditional one. @throws FhirError where its type is none */
  readonly criteriaOf: (text: string, holder: object, key: string | number) => string | undefined;
  /** Told of `urn:` references that no entry has for its own. */
  readonly onUnknown: (text: string, holder: object, key: string | number) => void;
}

/**
 * All links of a resource, found in one walk. What stands in plain text is none: an identifier may have the value of a
 * placeholder, and keeps it. https://hl7.org/fhir/R5/http.html#trules
 */
export function findLinks(resource: Resource, finder: LinkFinder): Link[] {
  const links: Link[] = [];
  walkResource(resource, finder, links);
  return links;
}

/** Finds the links of a resource that stands in another; other values have none. */
export function walkResource(value: JsonValue, finder: LinkFinder, out: Link[]): void {
  if (!isObject(value)) return;
  const type = value['resourceType'];
  // What refers within a document, say, refers to its own entries, and is stored with it.
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

/** Finds the links of what stands at a place. */
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
    const to = targetOf(holder, key, value, place, finder);
    if (to !== undefined) out.push({ holder, key, text: value, to });
  }
}

/** What a text at a place leads to. */
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

/** What the text of a reference leads to. */
export function referenceTarget(
  holder: object,
  key: string | number,
  text: string,
  finder: LinkFinder,
): LinkTarget | undefined {
  // What is contained is told apart from all that lies outside.
  if (text.startsWith('#')) return undefined;
  const criteria = text.includes('?') ? finder.criteriaOf(text, holder, key) : undefined;
  if (criteria !== undefined) return { criteria };
  const target = findWithRest(text, finder);
  if (target === undefined && isUrn(text)) finder.onUnknown(text, holder, key);
  return target;
}

/** What follows `#` is a place within the resource, and stays. */
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
