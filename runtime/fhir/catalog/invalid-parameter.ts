import { FhirError } from '../errors.js';
import { quote } from '../quote.js';

/** The error of a parameter that has a value that it cannot have. @param what continues `The parameter "x" …` */
export function invalidParameter(
  name: string,
  what: string,
  more?: ConstructorParameters<typeof FhirError>[2],
): FhirError {
  return new FhirError('parameter-invalid', `The parameter ${quote(name)} ${what}`, more);
}
