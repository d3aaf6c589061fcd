import { isObject, type Resource } from '../fhir/resource.js';

/** The type whose resources ask to be told of others. https://hl7.org/fhir/R5/subscription.html */
export const SUBSCRIPTION = 'Subscription';

/** The types that the filters of a Subscription look at: names, or canonicals of their definitions. */
export function subscribedTypes({ filterBy }: Resource, resourceTypes: readonly string[]): readonly string[] | false {
  const filters = Array.isArray(filterBy) ? filterBy.filter(isObject) : [];
  const names = filters.map(({ resourceType }) => (typeof resourceType === 'string' ? resourceType : ''));
  const types = new Set(names.map((name) => name.slice(name.lastIndexOf('/') + 1)));
  const known = resourceTypes.filter((type) => types.has(type));
  return known.length > 0 && known;
}
