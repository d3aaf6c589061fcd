import { FhirError, type Issue } from '../fhir/errors.js';
import type { Resource } from '../fhir/resource.js';
import { locatePaths } from '../validate/locate-paths.js';
import type { Call } from './call.js';
import type { Services } from './services.js';

/**
 * Has a resource validated, where the server can.
 *
 * @param text the JSON that it was read from: its places go into `diagnostics`
 * @throws FhirError with an issue for each fault
 */
export function validateResource(
  resource: Resource,
  { text }: Pick<Call, 'text'>,
  { validate }: Pick<Services, 'validate'>,
): void {
  const faults = validate?.(resource) ?? [];
  if (faults.length === 0) return;
  const places =
    text === undefined
      ? []
      : locatePaths(
          text(),
          faults.map(({ path }) => path),
        );
  const [first, ...others] = faults.map(({ code, issue, text: words, expression }, index): Issue => {
    const place = places[index];
    return {
      code,
      issue,
      text: words,
      expression,
      ...(place === undefined ? {} : { diagnostics: `line ${place.line}, column ${place.column}` }),
    };
  });
  if (first !== undefined) throw FhirError.of([first, ...others]);
}
