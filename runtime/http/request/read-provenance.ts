import type { IncomingMessage } from 'node:http';

import type { RouteRow } from '../../contract/index.js';
import { FhirError } from '../../fhir/errors.js';
import { isObject, type JsonValue, type Resource } from '../../fhir/resource.js';
import { readJson } from '../../format/read-json.js';

/** Interactions that write a resource which a Provenance can tell of. */
const WRITES = /^(?:create|(?:conditional-)?(?:update|patch))$/;

/**
 * Reads the header `X-Provenance`: a Provenance as JSON. https://hl7.org/fhir/R5/http.html#provenance
 *
 * @throws FhirError `header-invalid` where it is none, or the request writes no single resource
 */
export function readProvenance({ headers }: IncomingMessage, { interaction }: Pick<RouteRow, 'interaction'>): Resource {
  if (!WRITES.test(interaction))
    throw invalid('goes with the create, update or patch of one resource; a Bundle has an entry for the Provenance');
  const value = parse(String(headers['x-provenance']));
  if (isObject(value) && value['resourceType'] === 'Provenance') return value as Resource;
  throw invalid('has to be a Provenance resource as JSON, in UTF-8');
}

/** Undefined: it is no JSON. */
function parse(text: string): JsonValue | undefined {
  try {
    // Node takes the bytes of a header for ISO 8859-1.
    return readJson(new TextDecoder('utf-8', { fatal: true }).decode(Buffer.from(text, 'latin1')));
  } catch {
    return undefined;
  }
}

function invalid(text: string): FhirError {
  return new FhirError('header-invalid', `X-Provenance ${text}`);
}
