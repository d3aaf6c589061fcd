import type { Call } from '../../core/call.js';
import { describeStaleIndex, staleParameters } from '../../core/definitions/index-status.js';
import { constrainSearch } from '../../search-execution/authorize/constrain-search.js';
import { splitQuery } from '../../search-execution/criteria.js';
import { readTargets } from '../../search-execution/execute/find-page.js';
import { FORM, RESULT_PARAMETERS } from '../../search/control-parameters.js';
import { isInclude } from '../../search-execution/parse/read-include.js';
import { readSearchRequest } from '../../search-execution/parse/search-request.js';
import type { Services } from '../../core/services.js';
import { FhirError } from '../../fhir/errors.js';
import { EVERYTHING, type Condition } from '../../search/query/query.js';
import { quote } from '../../fhir/quote.js';

/** A filter of one type. */
export interface TypeFilter {
  readonly type: string;
  readonly where: Condition;
}

/**
 * Reads a search such as `Observation?status=final` as a condition on resources of its type, within the scopes of the token.
 *
 * @param parameter that holds it, for messages
 * @param how `refusesStale`: whether a search that could miss results is refused
 * @throws FhirError `parameter-invalid` and as a search, `scope-missing`, `index-not-current` where the search could miss results
 */
export async function readFilter(
  text: string,
  parameter: '_typeFilter' | '_typePostFetchFilterUrl' | 'url',
  call: Call,
  services: Services,
  { refusesStale = parameter === '_typeFilter' } = {},
): Promise<TypeFilter> {
  const { type, params } = splitQuery(text, services.own);
  if (type === undefined || !services.tables.resourceTypes.includes(type)) {
    throw invalid(parameter, `${quote(text)} does not begin with a resource type and "?": Observation?status=final`);
  }
  const sent = [...params]
    .filter(([name]) => !FORM.has(name))
    .map(([name, value]) => ({ name, value, isInUrl: false }));
  for (const { name } of sent) {
    if (Object.hasOwn(RESULT_PARAMETERS, name) || isInclude(name) || name.startsWith('_contained')) {
      throw invalid(parameter, `${quote(name)} shapes the result of a search and filters nothing; leave it out`);
    }
  }
  const input = { type, params: sent, isLenient: false, isPosted: true, now: Date.now() };
  const request = readSearchRequest(input, services);
  const { operation: _operation, level: _level, id: _id, body: _body, ...rest } = call;
  const search: Call = { ...rest, interaction: 'search-type', type, params };
  const scope = { path: type, type, types: [type] };
  const { constraints } = await constrainSearch(search, scope, request, services);
  const stale = describeStaleIndex(await staleParameters(request, services));
  if (stale !== undefined && refusesStale) throw new FhirError('index-not-current', stale);
  const [target] = await readTargets([{ type, where: EVERYTHING }], request, call.signal, services, constraints);
  return { type, where: target?.where ?? { some: [] } };
}

function invalid(parameter: string, text: string): FhirError {
  return new FhirError('parameter-invalid', text, { parameter });
}
