import { FhirError } from '../fhir/errors.js';
import { isObject, type JsonValue, type Resource } from '../fhir/resource.js';
import { elementsAt } from './elements.js';
import { PROFILES } from './mhd.js';
import { brokenRules, type ExchangeRule } from './rules.js';

/** Rules that IHE.MHD.SimplifiedPublish.DocumentReference 5.1.0 and IHE.MHD.Minimal.DocumentReference have in common beyond the structure of the type. */
export const REFERENCE_RULES: readonly ExchangeRule[] = [
  { path: 'modifierExtension', max: 0 },
  { path: 'docStatus', max: 0 },
  { path: 'category', max: 1 },
  { path: 'event.concept', min: 1 },
  { path: 'attester', max: 1 },
  { path: 'attester.party', min: 1 },
  { path: 'content', min: 1, max: 1 },
  { path: 'content.attachment.contentType', min: 1 },
  { path: 'content.profile', max: 1 },
  { path: 'content.profile.valueCoding', min: 1 },
];

/** IHE.MHD.SimplifiedPublish.DocumentReference 5.1.0, as far as it goes beyond the structure of the type. IHE MHD 5.1.0, 2:3.105.4.1.3 */
const PUBLISH_RULES: readonly ExchangeRule[] = [
  ...REFERENCE_RULES,
  { path: 'identifier', type: 'uniqueId', max: 1 },
  { path: 'identifier', type: 'entryUUID', max: 0 },
  { path: 'status', min: 1, values: ['current'] },
  { path: 'subject', min: 1, code: 'XDSUnknownPatientId' },
  { path: 'content.attachment.data', min: 1, code: 'XDSMissingDocument' },
  { path: 'content.attachment.url', max: 0 },
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

/** A DocumentReference that claims the profile has the identifier of the document; else the server adds one. */
const CLAIMED_RULE: ExchangeRule = { path: 'identifier', type: 'uniqueId', min: 1, max: 1 };

/** @throws FhirError with an issue for each rule that is broken */
export function checkPublishRules(resource: Resource): void {
  const rules = claimsPublish(resource) ? [CLAIMED_RULE, ...PUBLISH_RULES] : PUBLISH_RULES;
  const [first, ...others] = brokenRules(resource, rules);
  if (first !== undefined) throw FhirError.of([first, ...others]);
}
