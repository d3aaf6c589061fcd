import type { Call, Reply } from '../core/call.js';
import type { Services } from '../core/services.js';
import { FhirError } from '../fhir/errors.js';
import { isObject, type Resource } from '../fhir/resource.js';
import { readArguments, valueOf } from './common/arguments.js';
import { findMatches } from './common/find-matches.js';

/** The functional lists, which are found by their code. https://hl7.org/fhir/R5/lifecycle.html#lists */
const NAMES = ['current-problems', 'current-medications', 'current-allergies', 'current-drug-allergies'] as const;

/**
 * `List/$find`: the newest current working list of a patient with the code of a functional list.
 * https://hl7.org/fhir/R5/list-operation-find.html
 *
 * @throws FhirError `parameter-invalid` for another name, `not-found` where the patient has no such list
 */
export async function findList(call: Call, services: Services): Promise<Reply> {
  const found = readArguments(call, services);
  const name = NAMES.find((each) => each === valueOf(found, 'name'));
  if (name === undefined) throw new FhirError('parameter-invalid', `The parameter "name" is ${NAMES.join(', ')}`);
  const patient = String(valueOf(found, 'patient')).replace(/^Patient\//, '');
  const params = [
    ['patient', patient],
    ['code', name],
    ['status', 'current'],
    ['_sort', '-date,-_lastUpdated'],
  ] as const;
  for await (const list of findMatches('List', params, call, services)) {
    if (list['mode'] === 'working') return replyResource(list);
  }
  throw new FhirError('not-found', `The patient has no list ${name}`);
}

/** A stored resource as the answer, with its version and its URL. */
function replyResource(resource: Resource): Reply {
  const { resourceType, id, meta } = resource;
  const versionId = isObject(meta) ? meta['versionId'] : undefined;
  return {
    status: 200,
    resource,
    ...(typeof versionId === 'string' && { versionId }),
    ...(typeof id === 'string' && { contentLocation: `${resourceType}/${id}/_history/${String(versionId)}` }),
  };
}
