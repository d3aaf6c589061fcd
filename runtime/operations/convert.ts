import type { Call, Reply } from '../core/call.js';
import { checkParameters } from '../core/parameters.js';
import type { Services } from '../core/services.js';
import { validateResource } from '../core/write/validate-resource.js';
import { FhirError } from '../fhir/errors.js';
import { isObject, type Resource } from '../fhir/resource.js';
import { sizeOf } from '../path/size-of.js';

/** Greatest size of what is converted, in bytes: it is written in one turn. */
const LARGEST = 2 * 1024 * 1024;

/** The name of the parameter in the specification's definition, and in its prose. */
const NAMES: ReadonlySet<unknown> = new Set(['resource', 'input']);

/**
 * `POST [base]/$convert`: the resource of the body in the format that the client accepts. Of a Parameters resource with the
 * parameter `resource` (or `input`) that is the resource there. https://hl7.org/fhir/R5/resource-operation-convert.html
 *
 * @throws FhirError `body-missing`, `not-a-resource`, and for faults of the structure
 */
export function convert(call: Call, services: Services): Promise<Reply> {
  checkParameters(call);
  const { body } = call;
  if (body === undefined) throw new FhirError('body-missing');
  if (!isObject(body) || typeof body['resourceType'] !== 'string') throw new FhirError('not-a-resource');
  if (sizeOf(body, LARGEST) > LARGEST) {
    throw new FhirError('body-too-large', `$convert takes resources of about ${LARGEST} bytes; this one is larger`);
  }
  validateResource(body as Resource, call, services);
  return Promise.resolve({ status: 200, resource: inputOf(body as Resource) });
}

function inputOf(body: Resource): Resource {
  const { parameter } = body;
  if (body.resourceType !== 'Parameters' || !Array.isArray(parameter)) return body;
  const input = parameter.find((each) => isObject(each) && NAMES.has(each['name']) && isObject(each['resource']));
  return isObject(input) ? (input['resource'] as Resource) : body;
}
