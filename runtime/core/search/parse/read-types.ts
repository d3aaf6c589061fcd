import { FhirError } from '../../../fhir/errors.js';
import { nearest } from '../../../fhir/nearest.js';
import type { SearchDefinitions } from '../../../search/parse/definitions.js';
import { quote } from '../../../search/parse/quote.js';
import { some } from '../../../search/parse/unknown-parameter.js';
import type { SearchInput } from './search-input.js';

/** The parameter that names the types of a search over several. https://hl7.org/fhir/R5/search.html#_type */
export const TYPES = '_type';

/**
 * The types that a search looks at: one, or those that `_type` names, or all there are.
 *
 * @throws FhirError `parameter-invalid` for a type that does not exist, or is none of those that are searched here
 */
export function chooseTypes(
  { type, types, params }: Pick<SearchInput, 'type' | 'types' | 'params'>,
  { resourceTypes, isResourceType }: Pick<SearchDefinitions, 'resourceTypes' | 'isResourceType'>,
): readonly string[] {
  if (type !== undefined) return [type];
  const searched = types ?? resourceTypes;
  // That it stands once is checked where all parameters are.
  const value = params.find(({ name }) => name === TYPES)?.value ?? '';
  if (value === '') return searched;
  const chosen = value.split(',', resourceTypes.length + 1).map((name) => name.trim());
  if (chosen.length > resourceTypes.length)
    throw invalid(`these are more than there are types, ${resourceTypes.length}`);
  for (const name of chosen) {
    if (!isResourceType(name)) {
      const near = name.length > 64 ? undefined : nearest(name, searched);
      throw invalid(`${quote(name)} is no resource type${near === undefined ? '' : `; did you mean ${near}?`}`);
    }
    if (!searched.includes(name)) throw invalid(`${name} is not searched here; these are: ${some(searched)}`);
  }
  return searched.filter((each) => chosen.includes(each));
}

function invalid(what: string): FhirError {
  const text = `${TYPES} has names of resource types, separated by commas: ${what}`;
  return new FhirError('parameter-invalid', text).map((issue) => ({ ...issue, parameter: TYPES }));
}
