import { FhirError } from './errors.js';

/**
 * The parameters of a query string or of a form. What is no percent-encoded UTF-8 would become other text, and find what
 * the client did not ask for.
 *
 * @throws FhirError `parameter-invalid`
 */
export function parseQuery(text: string): URLSearchParams {
  if (text.includes('%')) {
    try {
      decodeURIComponent(text);
    } catch {
      const why =
        'a % has to be followed by two hexadecimal digits, and all together be UTF-8; % itself is written %25';
      throw new FhirError('parameter-invalid', `The parameters are not encoded well: ${why}`);
    }
  }
  return new URLSearchParams(text);
}
