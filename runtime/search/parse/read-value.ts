import { FhirError } from '../../fhir/errors.js';
import { PrefixError, ValueError } from './parse-value.js';
import { invalid, quote } from './quote.js';

/** Reads one value. @throws FhirError `parameter-invalid`, `prefix-unknown` for what cannot be one */
export function readValue<T>(name: string, text: string, read: () => T): T {
  if (text === '') throw invalid(name, 'has an empty value between its commas');
  try {
    return read();
  } catch (error) {
    if (error instanceof PrefixError) {
      throw new FhirError('prefix-unknown', `The parameter ${quote(name)} ${error.message}; it has ${quote(text)}`);
    }
    if (error instanceof ValueError) throw invalid(name, `${error.message}; it has ${quote(text)}`);
    throw error;
  }
}
