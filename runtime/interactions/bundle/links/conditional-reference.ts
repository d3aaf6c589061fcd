import { FhirError } from '../../../fhir/errors.js';
import { nearest } from '../../../fhir/nearest.js';

/** What can be meant as a conditional reference only. */
const RELATIVE_SEARCH = /^[A-Za-z]*\?/;

/**
 * `Type?…` of a conditional reference; undefined: it is another URL. https://hl7.org/fhir/R5/http.html#trules
 *
 * @param place where it stands
 * @throws FhirError where it names no type that there is: stored as it is it would lead nowhere
 */
export function criteriaOfReference(
  text: string,
  base: string,
  resourceTypes: readonly string[],
  place: () => string,
): string | undefined {
  const local = base !== '' && text.startsWith(`${base}/`) ? text.slice(base.length + 1) : text;
  const type = local.slice(0, local.indexOf('?'));
  if (resourceTypes.includes(type)) return local;
  if (!RELATIVE_SEARCH.test(local)) return undefined;
  const near = type === '' ? undefined : nearest(type.slice(0, 64), resourceTypes);
  const hint = near === undefined ? '' : `; did you mean ${near}?`;
  const what = type === '' ? 'no resource type' : `the unknown resource type ${JSON.stringify(type.slice(0, 64))}`;
  throw new FhirError('bundle-entry', `The conditional reference names ${what}${hint}`, { expression: place() });
}

/** The type that criteria look for. */
export function typeOfCriteria(criteria: string): string {
  return criteria.slice(0, criteria.indexOf('?'));
}
