import { FhirError } from '../fhir/errors.js';
import { FORM, VIEW_PARAMETERS } from '../search/control-parameters.js';
import type { Call } from './call.js';
import { quote } from '../fhir/quote.js';

/** Parameters that the specification has, where a server supports them. */
const OPTIONAL: ReadonlySet<string> = new Set(Object.keys(VIEW_PARAMETERS));

/**
 * Refuses parameters that an interaction does not know. `Prefer: handling=lenient` has them ignored.
 * https://hl7.org/fhir/R5/search.html#errors
 *
 * @throws FhirError `parameter-unknown`, naming it and those that are known
 */
export function checkParameters(call: Call, known: readonly string[] = []): void {
  if (call.params.size === 0 || call.prefer.handling === 'lenient') return;
  for (const [name, value] of call.params) {
    if (value === '' || FORM.has(name) || known.includes(name)) continue;
    const valid = [...FORM, ...known].join(', ');
    const quoted = quote(name);
    throw new FhirError(
      'parameter-unknown',
      OPTIONAL.has(name)
        ? `This server does not support the parameter ${quoted} here; it takes ${valid}`
        : `Unknown parameter ${quoted}; valid here: ${valid}`,
    );
  }
}

/**
 * The value of a parameter that may be given once. A parameter without a value counts as absent.
 * https://hl7.org/fhir/R5/search.html#errors
 *
 * @throws FhirError `parameter-invalid`
 */
export function singleParameter(call: Call, name: string): string | undefined {
  const values = call.params.getAll(name).filter((value) => value !== '');
  if (values.length > 1) throw new FhirError('parameter-invalid', `The parameter "${name}" may appear once`);
  return values[0];
}
