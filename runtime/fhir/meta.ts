import { FhirError } from './errors.js';
import { isObject, type JsonObject, type JsonValue, type Resource } from './resource.js';

/** Marks a resource that lacks elements, so that it is not written back. https://hl7.org/fhir/R5/search.html#summary */
export const SUBSETTED = {
  system: 'http://terminology.hl7.org/CodeSystem/v3-ObservationValue',
  code: 'SUBSETTED',
  display: 'subsetted',
} as const;

/** The lists of `meta` that stay over an update. https://hl7.org/fhir/R5/resource.html#tag-updates */
const KEPT = ['tag', 'security'] as const;

/**
 * `meta` without what the server sets itself, or undefined where nothing else is in it.
 * https://hl7.org/fhir/R5/resource.html#Meta
 *
 * @throws FhirError `structure` where `meta` or its codings are not of the right form
 */
export function clientMeta(resource: Resource): JsonObject | undefined {
  const meta: JsonValue | undefined = resource['meta'];
  if (meta === undefined) return undefined;
  if (!isObject(meta)) throw malformed(resource, 'meta', 'an object');
  const { versionId: _v, _versionId, lastUpdated: _l, _lastUpdated, ...rest } = meta;
  for (const list of KEPT) {
    const codings = rest[list];
    if (codings !== undefined && !(Array.isArray(codings) && codings.every(isObject))) {
      throw malformed(resource, `meta.${list}`, 'an array of objects');
    }
  }
  return Object.keys(rest).length > 0 ? rest : undefined;
}

/**
 * The meta of an update: as sent, and after each list the tags and the security labels of the version before that were
 * not sent again. Two codings are the same when system and code are. The tag SUBSETTED does not stay: what is sent is complete.
 */
export function keepTags(sent: JsonObject | undefined, before: JsonObject | undefined): JsonObject | undefined {
  if (before === undefined) return sent;
  let meta = sent;
  for (const list of KEPT) {
    const own = codings(sent, list);
    const known = new Set(own.map(codingKey));
    const kept = codings(before, list).filter((coding) => !known.has(codingKey(coding)) && !isSubsetted(coding));
    if (kept.length > 0) meta = { ...meta, [list]: [...own, ...kept] };
  }
  return meta;
}

/**
 * Refuses a resource that is tagged SUBSETTED: it is what `_summary` or `_elements` returned, and storing it would lose the
 * elements that were left out.
 *
 * @throws FhirError `resource-subsetted`
 */
export function checkComplete({ resourceType }: Resource, meta: JsonObject | undefined): void {
  if (!codings(meta, 'tag').some(isSubsetted)) return;
  throw new FhirError('resource-subsetted', undefined, { expression: `${resourceType}.meta.tag` });
}

/** Whether a tag is SUBSETTED. */
export function isSubsetted({ system, code }: JsonObject): boolean {
  return system === SUBSETTED.system && code === SUBSETTED.code;
}

/** The resource with this meta, in the place that FHIR gives it: after type and id. */
export function withMeta(resource: Resource, id: string, meta: JsonObject | undefined): Resource {
  const { resourceType, id: _id, meta: _meta, ...rest } = resource;
  return { resourceType, id, ...(meta === undefined ? {} : { meta }), ...rest } as Resource;
}

function codings(meta: JsonObject | undefined, list: string): JsonObject[] {
  const value = meta?.[list];
  return Array.isArray(value) ? value.filter(isObject) : [];
}

function codingKey(coding: JsonObject): string {
  return JSON.stringify([coding['system'] ?? null, coding['code'] ?? null]);
}

function malformed(resource: Resource, path: string, form: string): FhirError {
  return new FhirError('structure', `${resource.resourceType}.${path} has to be ${form}`, {
    expression: `${resource.resourceType}.${path}`,
  });
}
