import { isInclude } from '../../search-execution/parse/read-include.js';
import { readSearchRequest } from '../../search-execution/parse/search-request.js';
import type { SearchServices } from '../../search-execution/parse/search-context.js';
import { TYPES } from '../../search-execution/parse/scope.js';
import { FhirError } from '../../fhir/errors.js';
import { parseQuery } from '../../fhir/parse-query.js';
import { FORM, RESULT_PARAMETERS } from '../../search/control-parameters.js';
import type { FocusTypes, SearchCriteria } from '../plan.js';
import { quote } from '../../fhir/quote.js';

/** The services that topics and filters are compiled with. */
export type CompileServices = SearchServices;

/**
 * Reads criteria as a search of the type reads them: nothing in them may be ignored, or the topic would fire for more than it says.
 * https://hl7.org/fhir/R5/subscriptiontopic-definitions.html#SubscriptionTopic.resourceTrigger.queryCriteria.current
 *
 * @param text `name=value&…`, with or without `Type?` in front, percent-encoded or not
 * @throws FhirError `parameter-unknown`, `modifier-unknown`, `prefix-unknown`, `parameter-invalid`
 */
export function readSearchCriteria(text: string, focus: FocusTypes, services: CompileServices): SearchCriteria {
  const [, type = '', query = text] = /^\/?([A-Za-z]*)\?(.*)$/s.exec(text) ?? [];
  if (type !== '' && type !== focus.name) throw invalid(`the criteria are of ${type}, the trigger of ${focus.name}`);
  return { text, criteria: readPairs(pairsOf(query), focus, services) };
}

/**
 * Reads parameters as a search of the type does.
 *
 * @throws FhirError as `readSearchCriteria`
 */
export function readPairs(
  pairs: readonly (readonly [name: string, value: string])[],
  { name: type, isGeneral, types }: FocusTypes,
  services: CompileServices,
): SearchCriteria['criteria'] {
  for (const [name, value] of pairs) {
    if (Object.hasOwn(RESULT_PARAMETERS, name) || isInclude(name) || FORM.has(name) || name === TYPES) {
      throw invalid(`${quote(name)} is no criterion: it says what a search returns; leave it out`);
    }
    if (value === '') throw invalid(`${quote(name)} has no value`);
  }
  if (pairs.length === 0) throw invalid('there is no criterion: write name=value, or leave the element out');
  const params = pairs.map(([name, value]) => ({ name, value, isInUrl: false }));
  const searched = isGeneral ? { types: [...types] } : { type };
  const input = { ...searched, params, isLenient: false, isPosted: true, now: Date.now() };
  return readSearchRequest(input, services).criteria;
}

function pairsOf(query: string): readonly (readonly [string, string])[] {
  // What has a blank was not encoded; without any escape a plus is a plus.
  if (/%[0-9A-Fa-f]{2}/.test(query) && !/\s/.test(query)) return [...parseQuery(query)];
  return query
    .split('&')
    .filter((pair) => pair !== '')
    .map((pair): [string, string] => {
      const at = pair.indexOf('=');
      return at < 0 ? [pair, ''] : [pair.slice(0, at), pair.slice(at + 1)];
    });
}

function invalid(text: string): FhirError {
  return new FhirError('parameter-invalid', text);
}
