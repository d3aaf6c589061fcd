import { FhirError } from '../../fhir/errors.js';
import { clientMeta, keepTags, withMeta } from '../../fhir/meta.js';
import { isObject, type JsonObject, type JsonValue, type Resource } from '../../fhir/resource.js';
import type { OwnBases } from '../../path/own-bases.js';
import type { ResourceKey } from '../../store/store.js';
import { invalidParameter } from '../../fhir/catalog/invalid-parameter.js';

/** An identifier by which a resource is named. */
export interface Identifier {
  /** Absent: any. */
  readonly system?: string;
  readonly value: string;
}

/** Types of links between two records of one person. https://hl7.org/fhir/R5/valueset-link-type.html */
const REPLACES = 'replaces';
const REPLACED_BY = 'replaced-by';

/**
 * Returns the content of the target that the client sent. Tags and security labels of the version before stay, as in any
 * update. https://hl7.org/fhir/R5/resource.html#tag-updates
 */
export function resultFor(result: Resource, target: Resource): Resource {
  return withMeta(result, String(target['id']), keepTags(clientMeta(result), clientMeta(target)));
}

/** Returns the content of the source after a merge: not in use any more, and linked to the target. */
export function mergedSource(source: Resource, target: ResourceKey): Resource {
  return { ...source, active: false, link: [...listOf(source, 'link'), linkTo(target, REPLACED_BY)] } as Resource;
}

/**
 * Returns the content of the target after a merge, where the client sent none. It has the identifiers of the source, as old
 * ones, and a link to the source. https://hl7.org/fhir/R5/patient-operation-merge.html
 *
 * @param key of the source
 */
export function mergedTarget(target: Resource, source: Resource, key: ResourceKey, own: OwnBases): Resource {
  const before = listOf(target, 'identifier');
  const isNew = (each: JsonValue): boolean => !before.some((other) => isSameIdentifier(each, other));
  const more = listOf(source, 'identifier')
    .filter(isNew)
    .map((each) => ({ ...(each as JsonObject), use: 'old' }));
  const identifier = [...before, ...more];
  const link = listOf(target, 'link');
  return {
    ...target,
    ...(identifier.length > 0 && { identifier }),
    link: hasLink(target, key, REPLACES, own) ? link : [...link, linkTo(key, REPLACES)],
  } as Resource;
}

/**
 * Checks what a client wants the target to be.
 *
 * @throws FhirError `parameter-invalid` where it is another resource, lacks an identifier by which the target was named, does not
 * have exactly one link that says what it replaces, or has one that says that it is replaced itself
 */
export function checkResult(
  result: Resource,
  { source, target, identifiers }: { source: ResourceKey; target: ResourceKey; identifiers: readonly Identifier[] },
  own: OwnBases,
): void {
  if (result['id'] !== target.id) throw invalid(`has the id of the target: ${target.id}`);
  const lacking = identifiers.find((each) => !hasIdentifier(result, each));
  if (lacking !== undefined) throw invalid('has all identifiers of "target-patient-identifier"');
  const links = listOf(result, 'link').filter((link) => isLinkTo(link, source, REPLACES, own));
  if (links.length !== 1) throw invalid(`has one link of type "${REPLACES}" to ${source.type}/${source.id}`);
  // Else the two could replace each other.
  if (listOf(result, 'link').some((link) => isObject(link) && link['type'] === REPLACED_BY)) {
    throw invalid(`has no link of type "${REPLACED_BY}"`);
  }
}

/** @throws FhirError `merge-refused` where the state of two resources does not allow a merge */
export function checkMergeable(source: Resource, target: Resource): void {
  for (const [resource, role] of [
    [source, 'source'],
    [target, 'target'],
  ] as const) {
    if (listOf(resource, 'link').some((link) => isObject(link) && link['type'] === REPLACED_BY)) {
      throw new FhirError('merge-refused', `The ${role} was merged into another resource already`);
    }
  }
  if (target['active'] === false) {
    throw new FhirError('merge-refused', 'The target is not active; a resource is merged into an active one');
  }
}

/** Whether a version of the source is what a merge makes of the version before: what the undo of a merge takes back. */
export function isMergedSource(before: Resource, after: Resource, target: ResourceKey, own: OwnBases): boolean {
  const isMerged = (resource: Resource): boolean =>
    resource['active'] === false && hasLink(resource, target, REPLACED_BY, own);
  return isMerged(after) && !isMerged(before);
}

/** Whether a version of the target may be what a merge makes of it. */
export function isMergedTarget(after: Resource, source: ResourceKey, own: OwnBases): boolean {
  return hasLink(after, source, REPLACES, own);
}

/** Whether a resource has an identifier. */
export function hasIdentifier(resource: Resource, { system, value }: Identifier): boolean {
  return listOf(resource, 'identifier').some(
    (each) => isObject(each) && each['value'] === value && (system === undefined || each['system'] === system),
  );
}

function isSameIdentifier(a: JsonValue, b: JsonValue): boolean {
  return isObject(a) && isObject(b) && a['system'] === b['system'] && a['value'] === b['value'];
}

function linkTo({ type, id }: ResourceKey, how: string): JsonObject {
  return { other: { reference: `${type}/${id}` }, type: how };
}

function hasLink(resource: Resource, key: ResourceKey, how: string, own: OwnBases): boolean {
  return listOf(resource, 'link').some((link) => isLinkTo(link, key, how, own));
}

function isLinkTo(link: JsonValue, key: ResourceKey, how: string, own: OwnBases): boolean {
  if (!isObject(link) || link['type'] !== how || !isObject(link['other'])) return false;
  const named = own.readLocal(link['other']['reference']);
  return named?.type === key.type && named.id === key.id;
}

function listOf(resource: Resource, name: string): JsonValue[] {
  const value = resource[name];
  return Array.isArray(value) ? value : [];
}

function invalid(what: string): FhirError {
  const parameter = 'result-patient';
  return invalidParameter(parameter, what, { parameter });
}
