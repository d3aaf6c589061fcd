import type { Call, Reply } from '../../core/call.js';
import { writeLink } from '../../search-execution/pages/page-walk.js';
import { FORM } from '../../search/control-parameters.js';
import type { Services } from '../../core/services.js';
import { FhirError } from '../../fhir/errors.js';
import { formatInstant } from '../../fhir/instant.js';
import { isObject, type JsonValue, type Resource } from '../../fhir/resource.js';
import { execute } from '../../interactions/execute.js';
import { readArguments, valueOf } from '../common/arguments.js';
import { findFirst, searchCall } from '../common/find-matches.js';

/**
 * `DocumentReference/$docref`: the documents about a patient, of a type, whose period of care meets `start` to `end`; without both
 * the most recent one that is current, a summary of care if no type is asked for. The server generates no documents, so with
 * `on-demand` there is none. The answer is a page of a search, whose links lead on.
 * https://hl7.org/fhir/R5/documentreference-operation-docref.html
 *
 * @throws FhirError `parameter-invalid` for a type without a coding
 */
export async function docref(call: Call, services: Services): Promise<Reply> {
  const found = readArguments(call, services);
  const patient = String(valueOf(found, 'patient')).replace(/^Patient\//, '');
  const [start, end, type] = [valueOf(found, 'start'), valueOf(found, 'end'), valueOf(found, 'type')];
  const ofType: Criteria = type === undefined ? [] : [['type', tokensOf(type)]];
  if (valueOf(found, 'on-demand') === true) return { status: 200, resource: noDocuments(call) };
  const search = (more: Criteria): Promise<Reply> => {
    const params = new URLSearchParams([['patient', patient], ...ofType, ...more]);
    return execute(searchCall('DocumentReference', params, call), services);
  };
  if (start === undefined && end === undefined) {
    const summary: Criteria = [['patient', patient], ['type', SUMMARY], CURRENT];
    const isOffered =
      type === undefined && (await findFirst('DocumentReference', summary, call, services)) !== undefined;
    return search([...(isOffered ? [['type', SUMMARY] as [string, string]] : []), CURRENT, ...NEWEST]);
  }
  return search([
    ['status:not', 'entered-in-error'],
    ...(start === undefined ? [] : [['period', `ge${String(start)}`] as [string, string]]),
    ...(end === undefined ? [] : [['period', `le${String(end)}`] as [string, string]]),
  ]);
}

type Criteria = [string, string][];

/** A summary of care, which a patient's documents are asked for if for nothing else. */
const SUMMARY = 'http://loinc.org|34133-9';

const CURRENT: [string, string] = ['status', 'current'];

/** The one that was made last, as far as documents say when. */
const NEWEST: Criteria = [
  ['_sort', '-date,-period,-_lastUpdated'],
  ['_maxresults', '1'],
];

function noDocuments(call: Call): Resource {
  const pairs = [...call.params].filter(([name]) => !FORM.has(name));
  const link = [{ relation: 'self', url: writeLink(call, 'DocumentReference/$docref', pairs) }];
  const meta = { lastUpdated: formatInstant(Date.now()) };
  return { resourceType: 'Bundle', meta, type: 'searchset', total: 0, link };
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
