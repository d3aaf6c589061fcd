import { FhirError, type Issue } from '../fhir/errors.js';
import { isObject, type JsonValue, type Resource } from '../fhir/resource.js';
import { elementsAt, hasCode, objectsOf } from './elements.js';
import { IDENTIFIER_TYPES, PROFILES, type SharingCode } from './mhd.js';

/** How often an element has to be there, in each element that could have it. */
interface PublishRule {
  /** Below DocumentReference. */
  readonly path: string;
  readonly min?: 1;
  readonly max?: 0 | 1;
  /** The value that it has to have, where it is there. */
  readonly value?: string;
  /** The type of the identifiers that are counted. */
  readonly type?: 'uniqueId' | 'entryUUID';
  /** The rule is about a DocumentReference that claims the profile. */
  readonly claimed?: true;
  /** Absent: XDSRegistryMetadataError. */
  readonly code?: SharingCode;
}

/** IHE.MHD.SimplifiedPublish.DocumentReference 5.1.0, as far as it goes beyond the structure of the type. IHE MHD 5.1.0, 2:3.105.4.1.3 */
const PUBLISH_RULES: readonly PublishRule[] = [
  { path: 'modifierExtension', max: 0 },
  { path: 'identifier', type: 'uniqueId', min: 1, max: 1, claimed: true },
  { path: 'identifier', type: 'uniqueId', max: 1 },
  { path: 'identifier', type: 'entryUUID', max: 0 },
  { path: 'status', min: 1, value: 'current' },
  { path: 'docStatus', max: 0 },
  { path: 'category', max: 1 },
  { path: 'subject', min: 1, code: 'XDSUnknownPatientId' },
  { path: 'event.concept', min: 1 },
  { path: 'attester', max: 1 },
  { path: 'attester.party', min: 1 },
  { path: 'content', min: 1, max: 1 },
  { path: 'content.attachment.contentType', min: 1 },
  { path: 'content.attachment.data', min: 1, code: 'XDSMissingDocument' },
  { path: 'content.attachment.url', max: 0 },
  { path: 'content.profile', max: 1 },
  { path: 'content.profile.valueCoding', min: 1 },
];

/** The type whose creation publishes a document. */
const REFERENCE = 'DocumentReference';

/** Whether a resource is a DocumentReference with the document itself in it. */
export function bringsDocument(resource: Resource): boolean {
  return resource.resourceType === REFERENCE && elementsAt(resource, ['content', 'attachment', 'data']).length > 0;
}

/**
 * Whether the creation of a resource publishes a document: it claims the profile, or has a patient and the document itself. FHIR lets any
 * DocumentReference carry its document.
 */
export function isPublication(resource: Resource): boolean {
  if (resource.resourceType !== REFERENCE) return false;
  return claimsPublish(resource) || (resource['subject'] !== undefined && bringsDocument(resource));
}

/** Whether a DocumentReference claims to be a publication. */
export function claimsPublish(resource: Resource): boolean {
  const { profile } = isObject(resource['meta']) ? resource['meta'] : {};
  return Array.isArray(profile) && profile.some((canonical) => isPublishProfile(canonical));
}

/** Whether a canonical, with its version or without, is that of the profile of publications. */
export function isPublishProfile(canonical: JsonValue): canonical is string {
  return typeof canonical === 'string' && canonical.split('|', 1)[0] === PROFILES.simplifiedPublish;
}

/** @throws FhirError with an issue for each rule that is broken */
export function checkPublishRules(resource: Resource): void {
  const isClaimed = claimsPublish(resource);
  const [first, ...others] = PUBLISH_RULES.flatMap((rule) =>
    rule.claimed === true && !isClaimed ? [] : faultsOf(resource, rule),
  ).filter(
    ({ expression, text }, i, all) =>
      all.findIndex((each) => each.expression === expression && each.text === text) === i,
  );
  if (first !== undefined) throw FhirError.of([first, ...others]);
}

function faultsOf(resource: Resource, { path, min, max, value, type, code }: PublishRule): readonly Issue[] {
  const names = path.split('.');
  const name = names.pop() ?? '';
  const what = type === undefined ? name : `${name} of type ${type}`;
  const issue = (text: string, expression: string): Issue => ({
    code: 'publication-invalid',
    ...{ text: `${expression}: ${text}`, expression, sharing: code ?? 'XDSRegistryMetadataError' },
  });
  return elementsAt(resource, names).flatMap(({ element, at }) => {
    const all = valuesOf(element, name);
    const counted =
      type === undefined
        ? all
        : objectsOf(element, name).filter((each) => hasCode(each['type'], IDENTIFIER_TYPES, type));
    const expression = `${at}.${name}`;
    if (counted.length < (min ?? 0)) return [issue(`a document that is published needs ${what}`, expression)];
    if (counted.length > (max ?? Infinity)) {
      return [
        issue(max === 0 ? `a document that is published has no ${what}` : `only one ${what} may be there`, expression),
      ];
    }
    return value === undefined || counted.every((each) => each === value)
      ? []
      : [issue(`has to be ${value}`, expression)];
  });
}

function valuesOf(element: JsonValue, name: string): readonly JsonValue[] {
  const value = isObject(element) ? element[name] : undefined;
  if (value === undefined) return [];
  return Array.isArray(value) ? value : [value];
}
