import { FhirError } from '../fhir/errors.js';
import { parseQuery } from '../fhir/parse-query.js';
import type { Resource } from '../fhir/resource.js';
import { parseMediaType } from '../format/negotiate.js';
import { BINARY, decodeEnclosed } from './binary/binary-content.js';

/** Media type that searches are posted with. https://hl7.org/fhir/R5/http.html#search */
export const FORM_TYPE = 'application/x-www-form-urlencoded';

/** Greatest size of a form, in bytes: a list of 10,000 values has room. */
export const MAX_FORM = 1024 * 1024;

/** Greatest number of parameters in a form. */
const MAX_PARAMETERS = 1000;

/** The parameters of a form. They are counted before they are read. @throws FhirError `body-too-large`, `parameter-invalid` */
export function parseForm(bytes: Buffer): URLSearchParams {
  const text = decode(bytes);
  const count = text.split('&', MAX_PARAMETERS + 1).length;
  if (count > MAX_PARAMETERS) {
    throw new FhirError('parameter-invalid', `A search may have ${MAX_PARAMETERS} parameters, and the form has more`);
  }
  return parseQuery(text);
}

/**
 * The form in an entry of a Bundle, a Binary; without a resource there is none. Anything else would be a search that finds more
 * than was asked for.
 *
 * @throws FhirError `type-mismatch`, and as `parseForm`
 */
export function formOfResource(resource: Resource | undefined): URLSearchParams {
  if (resource === undefined) return new URLSearchParams();
  const { resourceType, contentType } = resource;
  const name = typeof contentType === 'string' ? parseMediaType(contentType).name : undefined;
  if (resourceType !== BINARY || name !== FORM_TYPE) {
    const text = `The criteria of a search are in its URL, or in a ${BINARY} whose contentType is ${FORM_TYPE}`;
    throw new FhirError('type-mismatch', text);
  }
  const data = decodeEnclosed(resource['data'], 'form');
  try {
    return data === undefined ? new URLSearchParams() : parseForm(data);
  } catch (error) {
    throw error instanceof FhirError ? error.map((issue) => ({ ...issue, expression: `${BINARY}.data` })) : error;
  }
}

function decode(bytes: Buffer): string {
  try {
    return new TextDecoder('utf-8', { fatal: true }).decode(bytes);
  } catch {
    throw new FhirError('parameter-invalid', 'The form is not UTF-8');
  }
}
