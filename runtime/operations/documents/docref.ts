import type { Call, Reply } from '../../core/call.js';
import type { Services } from '../../core/services.js';
import { FhirError } from '../../fhir/errors.js';
import { isObject, type JsonValue } from '../../fhir/resource.js';
import { execute } from '../../interactions/execute.js';
import { readArguments, valueOf } from '../arguments.js';
import { searchCall } from '../find-matches.js';

/**
 * `DocumentReference/$docref`: the documents about a patient, of a type, whose period of care meets `start` to `end`. The server
 * generates no documents on demand, so `on-demand` changes nothing. The answer is a page of a search, whose links lead on.
 * https://hl7.org/fhir/R5/documentreference-operation-docref.html
 *
 * @throws FhirError `parameter-invalid` for a type without a coding
 */
export async function docref(call: Call, services: Services): Promise<Reply> {
  const found = readArguments(call, services);
  const patient = String(valueOf(found, 'patient')).replace(/^Patient\//, '');
  const params = new URLSearchParams([['patient', patient]]);
  const [start, end] = [valueOf(found, 'start'), valueOf(found, 'end')];
  if (start !== undefined) params.append('period', `ge${String(start)}`);
  if (end !== undefined) params.append('period', `le${String(end)}`);
  const type = valueOf(found, 'type');
  if (type !== undefined) params.append('type', tokensOf(type));
  return execute(searchCall('DocumentReference', params, call), services);
}

/** A CodeableConcept as a token parameter: any of its codings. */
function tokensOf(type: JsonValue): string {
  const codings = isObject(type) && Array.isArray(type['coding']) ? type['coding'].filter(isObject) : [];
  const tokens = codings
    .filter(({ code }) => typeof code === 'string')
    .map(({ system, code }) => `${system === undefined ? '' : `${escaped(system)}|`}${escaped(code)}`);
  if (tokens.length > 0) return tokens.join(',');
  throw new FhirError('parameter-invalid', 'The parameter "type" needs a coding with a code');
}

function escaped(value: JsonValue | undefined): string {
  return String(value).replaceAll(/[\\,|$]/g, '\\$&');
}
