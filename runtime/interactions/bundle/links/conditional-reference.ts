import { FhirError } from '../../../fhir/errors.js';
import { didYouMean } from '../../../fhir/nearest.js';
import type { OwnBases } from '../../../path/own-bases.js';

/** A relative URL with a query, which can only be a conditional reference. */
const RELATIVE_SEARCH = /^[A-Za-z]*\?/;

/**
 * `Type?…` of a conditional reference; undefined for other URLs. https://hl7.org/fhir/R5/http.html#trules
 *
 * @param place the FHIRPath of the reference
 * @throws FhirError for an unknown type: the stored reference could not be resolved
 */
export function criteriaOfReference(
  text: string,
  own: OwnBases,
  resourceTypes: readonly string[],
  place: () => string,
): string | undefined {
  const local = own.below(text) ?? text;
  const type = local.slice(0, local.indexOf('?'));
  if (resourceTypes.includes(type)) return local;
  if (!RELATIVE_SEARCH.test(local)) return undefined;
  const hint = type === '' ? '' : didYouMean(type, resourceTypes);
  const what = type === '' ? 'no resource type' : `the unknown resource type ${JSON.stringify(type.slice(0, 64))}`;
  throw new FhirError('bundle-entry', `The conditional reference names ${what}${hint}`, { expression: place() });
}

/** The type that criteria search. */
export function typeOfCriteria(criteria: string): string {
  return criteria.slice(0, criteria.indexOf('?'));
}
