import { FhirError } from '../fhir/errors.js';
import type { Call } from './call.js';

/** Parameters about the form of an answer, that every interaction takes. https://hl7.org/fhir/R5/http.html#parameters */
const GENERAL = new Set(['_format', '_pretty']);

/** Parameters that the specification has everywhere and this server has not yet. */
const NOT_YET = new Set(['_summary', '_elements']);

/**
 * Refuses parameters that an interaction does not know. `Prefer: handling=lenient` has them ignored.
 * https://hl7.org/fhir/R5/search.html#errors
 *
 * @throws FhirError `parameter-unknown`, naming it and those that are known
 */
export function checkParameters(call: Call, known: readonly string[] = []): void {
  if (call.prefer.handling === 'lenient') return;
  for (const name of call.params.keys()) {
    if (GENERAL.has(name) || known.includes(name)) continue;
    const valid = [...GENERAL, ...known].join(', ');
    throw new FhirError(
      'parameter-unknown',
      NOT_YET.has(name)
        ? `This server does not support the parameter "${name}" yet; it takes ${valid}`
        : `Unknown parameter "${name}"; valid here: ${valid}`,
    );
  }
}
