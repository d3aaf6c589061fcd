import { FhirError, type ErrorCode } from '../fhir/errors.js';

/** Codes of the error catalogue that a patch can fail with. */
export type PatchCode = Extract<ErrorCode, `patch-${string}` | 'resource-too-large' | 'json-forbidden-key'>;

/** Error of one operation of a patch; `inOperation` adds which operation it is. */
export class PatchFault extends Error {
  constructor(
    readonly code: PatchCode,
    text: string,
    /** Stable code that tells more than `code`. */
    readonly detail?: string,
  ) {
    super(text);
  }
}

/**
 * Does what one operation of a patch wants; a fault in it becomes a `FhirError` that names the operation.
 *
 * @param index Place of the operation in the patch, from 0
 * @param name What the operation is called: `add "/name/0"`
 */
export function inOperation<T>(index: number, name: string, work: () => T): T {
  try {
    return work();
  } catch (error) {
    if (!(error instanceof PatchFault)) throw error;
    const { code, detail } = error;
    const text = `Operation [${index}], ${name}: ${error.message}`;
    throw FhirError.of([{ code, text, ...(detail === undefined ? {} : { detail }) }]);
  }
}
