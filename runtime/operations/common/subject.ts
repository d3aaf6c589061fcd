import type { Call } from '../../core/call.js';
import { FhirError } from '../../fhir/errors.js';
import { isObject, type JsonValue } from '../../fhir/resource.js';
import type { JsonPath } from '../../fhir/errors.js';

/** The resource that an operation is about, and that need not be valid. */
export interface Subject {
  readonly body: JsonValue | undefined;
  /** The body is a Parameters resource of the operation. */
  readonly isWrapped: boolean;
  /** The way to the resource in the body. */
  readonly way: JsonPath;
}

/**
 * The resource that an operation is about: the parameter `resource` of a Parameters resource, otherwise the body.
 *
 * @param others names of the other parameters: a Parameters resource with any of them is no resource to work on
 * @throws FhirError `parameter-invalid` where there are several
 */
export function subjectOf(body: JsonValue | undefined, others: ReadonlySet<string>): Subject {
  if (!isObject(body) || body['resourceType'] !== 'Parameters' || !Array.isArray(body['parameter'])) {
    return { body, isWrapped: false, way: [] };
  }
  const named = body['parameter'].filter(isObject);
  const [subject, ...more] = named.filter((each) => each['name'] === 'resource' && each['resource'] !== undefined);
  if (more.length > 0) throw new FhirError('parameter-invalid', 'The parameter "resource" may be given once');
  const isOfOperation = named.some(({ name }) => others.has(String(name)));
  if (subject === undefined) return { body: isOfOperation ? undefined : body, isWrapped: isOfOperation, way: [] };
  const way = ['parameter', body['parameter'].indexOf(subject), 'resource'];
  return { body: subject['resource'], isWrapped: true, way };
}

/** The call with the other parameters only: the resource may be as wrong as it likes. */
export function withoutSubject(call: Call, isWrapped: boolean): Call {
  const { body, text: _text, ...rest } = call;
  if (!isWrapped || !isObject(body)) return rest;
  const parameter = (body['parameter'] as JsonValue[]).filter((each) => !isObject(each) || each['name'] !== 'resource');
  return parameter.length === 0 ? rest : { ...rest, body: { ...body, parameter } };
}
