import { isObject, type JsonValue, objectsOf, type Resource } from '../../fhir/resource.js';

/** Where references of a resource lead. https://hl7.org/fhir/R5/references.html */
export interface Scope {
  /** The resource at hand: `%resource` of its rules. */
  readonly resource: Resource;
  /** Holds what is contained: the resource itself, or what contains it. */
  readonly container: Resource;
  /** The entries of the Bundle around it. */
  readonly entries?: BundleEntries;
  /** It was found behind a reference, outside of the resource that is validated. */
  readonly isFound?: true;
}

/** The resource that validation begins with. */
export function rootScope(resource: Resource): Scope {
  return { resource, container: resource };
}

/** A resource that a reference leads to, outside of the one that is validated. What that refers to in turn is not looked up. */
export function foundScope(resource: Resource): Scope {
  return { resource, container: resource, isFound: true };
}

/** The scope of a resource that lies in another one: contained, an entry of a Bundle, a parameter. */
export function scopeWithin(scope: Scope, resource: Resource, how: 'contained' | 'entry' | 'other'): Scope {
  if (how === 'contained') return { ...scope, resource };
  if (how === 'other') return { ...scope, resource, container: resource };
  return { resource, container: resource, entries: bundleEntries(scope.resource) };
}

interface BundleEntries {
  readonly byUrl: ReadonlyMap<string, Resource>;
  /** By type and id. */
  readonly byName: ReadonlyMap<string, Resource>;
  readonly urlOf: ReadonlyMap<Resource, string>;
}

let last: { readonly bundle: Resource; readonly entries: BundleEntries } | undefined;

/** Made once for all entries of the Bundle in hand. */
function bundleEntries(bundle: Resource): BundleEntries {
  if (last?.bundle !== bundle) last = { bundle, entries: indexEntries(bundle) };
  return last.entries;
}

/** Lets go of the Bundle that was validated last: it may be changed before it comes again. */
export function forgetBundle(): void {
  last = undefined;
}

function indexEntries(bundle: Resource): BundleEntries {
  const byUrl = new Map<string, Resource>();
  const byName = new Map<string, Resource>();
  const urlOf = new Map<Resource, string>();
  for (const { fullUrl, resource: value } of objectsOf(bundle['entry'])) {
    const resource = asResource(value);
    if (resource === undefined) continue;
    if (typeof fullUrl === 'string') {
      byUrl.set(fullUrl, resource);
      urlOf.set(resource, fullUrl);
    }
    if (typeof resource['id'] === 'string') byName.set(`${resource.resourceType}/${resource['id']}`, resource);
  }
  return { byUrl, byName, urlOf };
}

/** Finds the resource that a reference leads to, within its resource and the Bundle around that; undefined: neither has it. */
export function findReferenced(reference: string, { container, entries }: Scope): Resource | undefined {
  if (reference.startsWith('#')) {
    const id = reference.slice(1);
    if (id === '') return container;
    return asResource(objectsOf(container['contained']).find((each) => each['id'] === id));
  }
  if (entries === undefined || reference === '') return undefined;
  const url = reference.split('/_history/')[0] ?? reference;
  if (/^[a-z][a-z0-9+.-]*:/i.test(url)) return entries.byUrl.get(url);
  // A relative reference is meant below the base that the entry is at.
  const base = entries.urlOf.get(container)?.match(/^(https?:.*\/)[A-Z][A-Za-z]+\/[A-Za-z0-9.-]{1,64}$/)?.[1];
  return (base === undefined ? undefined : entries.byUrl.get(base + url)) ?? entries.byName.get(url);
}

/** The type that the text of a reference names: `Patient/1`, `http://x.org/fhir/Patient/1/_history/2`. */
export function namedType(reference: string): string | undefined {
  const [path = ''] = reference.split('/_history/');
  return /(?:^|\/)([A-Z][A-Za-z]{1,63})\/[A-Za-z0-9.-]{1,64}$/.exec(path.slice(-200))?.[1];
}

/** A value as a resource, if it is one. */
export function asResource(value: JsonValue | undefined): Resource | undefined {
  return isObject(value) && typeof value['resourceType'] === 'string' ? (value as Resource) : undefined;
}
