import { FhirError } from '../fhir/errors.js';
import type { EXCHANGE_ERRORS } from '../fhir/catalog/exchange-errors.js';
import type { SharingCode } from './mhd.js';

/** That a document cannot be published, with the code of document sharing beside ours. */
export function refusal(
  code: keyof typeof EXCHANGE_ERRORS,
  sharing: SharingCode,
  text: string,
  expression: string,
): FhirError {
  return FhirError.of([{ code, text, expression, sharing }]);
}
