import type { SearchType } from '../../runtime/contract/index.js';
import { GeneratorError } from '../generator-error.js';

/** Search type that suits values of a FHIR type. https://hl7.org/fhir/R5/search.html#table */
const SUITED: Readonly<Record<string, SearchType>> = {
  boolean: 'token',
  code: 'token',
  CodeableConcept: 'token',
  Coding: 'token',
  ContactPoint: 'token',
  id: 'token',
  Identifier: 'token',
  date: 'date',
  dateTime: 'date',
  instant: 'date',
  Period: 'date',
  Timing: 'date',
  decimal: 'number',
  integer: 'number',
  positiveInt: 'number',
  unsignedInt: 'number',
  Quantity: 'quantity',
  Range: 'quantity',
  Ratio: 'quantity',
  canonical: 'uri',
  uri: 'uri',
  url: 'uri',
  CodeableReference: 'reference',
  Reference: 'reference',
  markdown: 'string',
  Narrative: 'string',
  string: 'string',
};

/**
 * The search type of a component whose parameter is not published, from the types of its element.
 *
 * @throws GeneratorError if the types have different search types
 */
export function searchTypeOf(types: readonly string[]): SearchType {
  const suited = [...new Set(types.map((type) => SUITED[type]))];
  const [type] = suited;
  if (suited.length !== 1 || type === undefined) {
    throw new GeneratorError(`no one search type suits ${types.join('|')}`);
  }
  return type;
}
