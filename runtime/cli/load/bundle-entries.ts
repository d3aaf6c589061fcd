import { isId } from '../../fhir/id.js';
import { isObject, type JsonObject, type JsonValue, type Resource } from '../../fhir/resource.js';

/** A resource out of a Bundle, or what is wrong with an entry. */
export type BundleEntry =
  | { readonly index: number; readonly resource: Resource; readonly id: string | undefined }
  | { readonly index: number; readonly error: Error };

/**
 * The resources of a collection Bundle, in order. One without id gets that of its `fullUrl` (`urn:uuid:…` or another URN, or a URL that
 * ends in its type and an id), so that loading it again finds it again; references from entry to entry by `urn:` are
 * rewritten to type and id. https://hl7.org/fhir/R5/bundle.html#references
 */
export function bundleEntries(bundle: Resource): BundleEntry[] {
  const list = Array.isArray(bundle['entry']) ? bundle['entry'] : [];
  const targets = new Map<string, string>();
  const entries = list.map((entry, index): BundleEntry => {
    const resource = isObject(entry) ? entry['resource'] : undefined;
    if (!isObject(entry) || !isObject(resource) || typeof resource['resourceType'] !== 'string') {
      return { index, error: new Error('the entry has no resource') };
    }
    const { id: own, resourceType: type } = resource as Resource;
    const fullUrl = typeof entry['fullUrl'] === 'string' ? entry['fullUrl'] : '';
    const id = typeof own === 'string' ? own : idOfUrl(fullUrl, type);
    if (id !== undefined && /^urn:/i.test(fullUrl)) targets.set(fullUrl, `${type}/${id}`);
    return { index, resource: resource as Resource, id };
  });
  if (targets.size > 0) {
    for (const entry of entries) if ('resource' in entry) rewrite(entry.resource, targets);
  }
  return entries;
}

function idOfUrl(fullUrl: string, type: string): string | undefined {
  const [, uuid, urn] = /^urn:(?:(?:uuid|oid):(.*)|(.*))$/i.exec(fullUrl) ?? [];
  const id =
    uuid?.toLowerCase() ??
    urn?.replaceAll(':', '-') ??
    (fullUrl.includes(`/${type}/`) ? fullUrl.split('/').at(-1) : undefined);
  return id !== undefined && isId(id) ? id : undefined;
}

/** In place: the resource was read for this. */
function rewrite(value: JsonValue[] | JsonObject, targets: ReadonlyMap<string, string>): void {
  if (Array.isArray(value)) {
    for (const member of value) if (isContainer(member)) rewrite(member, targets);
    return;
  }
  for (const [name, member] of Object.entries(value)) {
    if (isContainer(member)) rewrite(member, targets);
    else if (name === 'reference' && typeof member === 'string') value[name] = targets.get(member) ?? member;
  }
}

function isContainer(value: JsonValue): value is JsonValue[] | JsonObject {
  return Array.isArray(value) || isObject(value);
}
