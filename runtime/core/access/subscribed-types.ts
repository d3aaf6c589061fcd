import { isObject, type Resource } from '../../fhir/resource.js';

/** The type whose resources ask to be notified of others. https://hl7.org/fhir/R5/subscription.html */
export const SUBSCRIPTION = 'Subscription';

/** What names of types are relative to. https://hl7.org/fhir/R5/subscription-definitions.html#Subscription.filterBy.resourceType */
const DEFINITIONS = 'http://hl7.org/fhir/StructureDefinition/';

/**
 * The types that the filters of a Subscription look at: names, or canonicals of their definitions. All where one of them
 * names no type, or there is none: only its topic decides then, and that may be about anything.
 */
export function subscribedTypes({ filterBy }: Resource, resourceTypes: readonly string[]): readonly string[] {
  const filters = Array.isArray(filterBy) ? filterBy.filter(isObject) : [];
  const names = filters.map(({ resourceType }) =>
    typeof resourceType === 'string' ? resourceType.replace(DEFINITIONS, '') : '',
  );
  const areTypes = names.length > 0 && names.every((name) => resourceTypes.includes(name));
  return areTypes ? [...new Set(names)] : resourceTypes;
}
