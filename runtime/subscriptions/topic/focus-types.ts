import { nearest } from '../../fhir/nearest.js';
import type { ServiceTables } from '../../core/services.js';
import type { FocusTypes } from '../plan.js';
import { quote } from '../../fhir/quote.js';

/** Prefix of the URLs of types. https://hl7.org/fhir/R5/subscriptiontopic-definitions.html#SubscriptionTopic.resourceTrigger.resource */
const DEFINITIONS = 'http://hl7.org/fhir/StructureDefinition/';

type TypeTables = Pick<ServiceTables, 'resourceTypes' | 'search'>;

/** @returns a text where it is none that the server stores: what would be right */
export function readFocusTypes(text: string, tables: TypeTables): FocusTypes | string {
  const name = text.startsWith(DEFINITIONS) ? text.slice(DEFINITIONS.length) : text;
  const { resourceTypes, search } = tables;
  if (resourceTypes.includes(name)) return { name, isGeneral: false, types: new Set([name]) };
  // Tables of search parameters that no resource has as its own type: Resource and DomainResource.
  if (search.some(({ type }) => type === name)) {
    return { name, isGeneral: true, types: new Set(resourceTypes.filter((type) => inherits(type, name, search))) };
  }
  const near = name.length > 64 ? undefined : nearest(name, resourceTypes);
  const hint = near === undefined ? '' : `; did you mean ${near}?`;
  return `${quote(text)} is no resource type that this server stores: name one, Resource or DomainResource, as name or as URL below ${DEFINITIONS}${hint}`;
}

function inherits(type: string, from: string, search: TypeTables['search']): boolean {
  for (let at: string | undefined = type; at !== undefined;) {
    if (at === from) return true;
    const here: string = at;
    at = search.find((table) => table.type === here)?.base;
  }
  return false;
}
