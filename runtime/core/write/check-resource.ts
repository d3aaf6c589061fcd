import { FhirError } from '../../fhir/errors.js';
import { isId, whyNoId } from '../../fhir/id.js';
import { isObject, type JsonValue, type Resource } from '../../fhir/resource.js';
import { quote } from '../../fhir/quote.js';

/**
 * The body as a resource of this type. Checks only that it is an object with the right `resourceType`; elements are not
 * validated.
 *
 * @param otherwise error message for another `resourceType`
 * @throws FhirError
 */
export function checkResource(
  body: JsonValue | undefined,
  type: string,
  otherwise = (sent: string): string => `The body is of type ${sent}, the URL names ${type}`,
): Resource {
  if (body === undefined) throw new FhirError('body-missing', `The request needs a ${type} as its body`);
  if (!isObject(body)) throw new FhirError('not-a-resource', 'A resource is a JSON object');
  const { resourceType } = body;
  if (typeof resourceType !== 'string') {
    throw new FhirError('not-a-resource', 'A resource names its type in "resourceType"', { expression: type });
  }
  if (resourceType !== type) {
    throw new FhirError('type-mismatch', otherwise(quote(resourceType)));
  }
  return body as Resource;
}

/**
 * Checks that the body of an update has the id of the URL. https://hl7.org/fhir/R5/http.html#update
 *
 * @throws FhirError
 */
export function checkId(resource: Resource, id: string): void {
  const expression = `${resource.resourceType}.id`;
  const sent = resource['id'];
  if (sent === undefined)
    throw new FhirError('id-missing', `The body needs the id of the URL, "${id}"`, { expression });
  if (typeof sent !== 'string') throw new FhirError('id-invalid', 'An id is a string', { expression });
  if (sent !== id) {
    throw new FhirError('id-mismatch', `The body has the id ${quote(sent)}, the URL "${id}"`, { expression });
  }
  if (!isId(id)) throw new FhirError('id-invalid', whyNoId(id), { expression });
}

/**
 * The id in the body of a conditional update; undefined if it has none. https://hl7.org/fhir/R5/http.html#cond-update
 *
 * @throws FhirError `id-invalid`
 */
export function sentId(resource: Resource): string | undefined {
  const { resourceType, id } = resource;
  if (id === undefined) return undefined;
  const expression = `${resourceType}.id`;
  if (typeof id !== 'string') throw new FhirError('id-invalid', 'An id is a string', { expression });
  if (!isId(id)) throw new FhirError('id-invalid', whyNoId(id), { expression });
  return id;
}
