import type { Call } from '../../core/call.js';
import { checkParameters } from '../../core/parameters.js';
import type { Services } from '../../core/services.js';
import { FhirError } from '../../fhir/errors.js';
import { isObject, type JsonValue } from '../../fhir/resource.js';
import { openBundle } from '../../interactions/bundle/envelope.js';
import { checkAllowed } from '../../interactions/execute.js';
import { historyParameters } from '../../interactions/history/history-query.js';
import { authorizeSearch, parseSearch } from '../../interactions/search/search.js';
import { criteriaOf } from '../../interactions/write/target-resolver.js';
import { PAGE_PARAMETER } from '../../core/search-services/page-links/page-link.js';

/**
 * Refuses at once what is wrong with a call by itself: scopes, parameters, limits. What depends on the store is in the answer that
 * comes later. https://hl7.org/fhir/R5/async-bundle.html
 *
 * @throws FhirError `scope-missing`, `method-not-allowed`, `parameter-unknown`, `parameter-invalid` and others of status 400
 */
export async function judgeCall(call: Call, services: Services): Promise<void> {
  checkAllowed(call, services);
  const { interaction, params, body } = call;
  if (params.has('_outputFormat')) {
    const text = 'The answer to this request is a Bundle; _outputFormat is a parameter of $export';
    throw new FhirError('parameter-invalid', text, { parameter: '_outputFormat' });
  }
  if (interaction.startsWith('search-')) {
    await authorizeSearch(await parseSearch(call, services), call, services);
  } else if (interaction.startsWith('history-')) {
    checkParameters(call, [...historyParameters(services), PAGE_PARAMETER]);
  } else if (interaction.startsWith('conditional-')) {
    await criteriaOf(call, services);
  } else if (interaction !== 'operation') {
    checkParameters(call);
  }
  if (interaction !== 'bundle') return;
  const { entries } = openBundle(body, services.limits.entries);
  // The job would keep the writes until a server runs it that may write.
  const isRead = (entry: JsonValue): boolean => /^(?:GET|HEAD)$/.test(String(methodOf(entry)));
  if (services.isReadOnly && !entries.every(isRead))
    throw new FhirError('read-only', undefined, { headers: { Allow: '' } });
}

function methodOf(entry: JsonValue): JsonValue | undefined {
  const request = isObject(entry) ? entry['request'] : undefined;
  return isObject(request) ? request['method'] : undefined;
}
