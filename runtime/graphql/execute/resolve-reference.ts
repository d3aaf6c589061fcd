import { FhirError } from '../../fhir/errors.js';
import { isObject, type JsonObject, type Resource } from '../../fhir/resource.js';
import { baseKey } from '../../path/base-key.js';
import { readReference } from '../../path/reference-text.js';
import { containedResource } from '../../path/refers.js';
import type { Execution, Lookup, Placed, Surroundings } from './context.js';
import type { TargetKey } from './read-resources.js';
import { quote } from '../../fhir/quote.js';

/** Where a reference leads: to a resource that is at hand, or to one of the store. */
export type Resolution = Lookup<Placed> | { readonly key: TargetKey };

/**
 * Finds out where a reference leads. Within its own resource and its own Bundle it is followed at once.
 * https://hl7.org/fhir/R5/references.html#literal, https://hl7.org/fhir/R5/bundle.html#references
 */
export function resolveReference(
  reference: JsonObject,
  place: Surroundings,
  { services, catalog }: Execution,
): Resolution {
  const text = reference['reference'];
  if (typeof text !== 'string')
    return none('The reference has no address: it names its target by an identifier, or in words');
  if (text.startsWith('#')) {
    const inner = text.length === 1 ? place.root : containedResource(place.root, text.slice(1));
    return isObject(inner as JsonObject | undefined)
      ? { value: { ...place, resource: inner as Resource } }
      : none(`Nothing is contained under ${quote(text)}`);
  }
  const near = place.bundle && entryOf(text, place.bundle);
  if (near !== undefined) return { value: near };
  const read = services.own.read(text);
  if (read === undefined) return none(`The reference ${quote(text)} is no address on a server of FHIR`);
  const { type, id, version, base } = read;
  if (base !== undefined) return none(`The reference ${quote(text)} leads to another server`);
  if (!catalog.isResource(type)) return none(`The reference ${quote(text)} names no type of resource`);
  return { key: { type, id, ...(version !== undefined && { version }) } };
}

/** The entry of a Bundle that a reference within it means. */
function entryOf(text: string, { resource: bundle, fullUrl }: NonNullable<Surroundings['bundle']>): Placed | undefined {
  const [plain = ''] = text.split('/_history/');
  const base = fullUrl === undefined ? undefined : readReference(fullUrl)?.base;
  const isRelative = /^[A-Za-z]+\/[A-Za-z0-9.-]+$/.test(plain);
  const wanted = isRelative && base !== undefined ? `${base}/${plain}` : baseKey(plain);
  const entries = bundle['entry'];
  for (const each of Array.isArray(entries) ? entries : []) {
    if (!isObject(each) || !isObject(each['resource'])) continue;
    const url = each['fullUrl'];
    if (typeof url !== 'string' || baseKey(url) !== wanted) continue;
    const resource = each['resource'] as Resource;
    return { resource, root: resource, bundle: { resource: bundle, fullUrl: url } };
  }
  return undefined;
}

function none(text: string): { readonly fault: FhirError } {
  return { fault: new FhirError('not-found', text) };
}
