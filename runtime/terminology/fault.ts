import { FhirError, type ErrorCode } from '../fhir/errors.js';

/** Why a question about a code cannot be answered. */
export type FaultKind =
  /** The server does not know the code system. */
  | 'system'
  /** The server knows the code system in other versions than the value set names. */
  | 'pinned-version'
  /** The server knows the code system in other versions than the code comes with. */
  | 'coding-version'
  /** The version that is used is not the one that the client demands. */
  | 'checked-version'
  /** The server has a part of the code system only, and the code is not in it. */
  | 'fragment'
  /** The server does not know a value set that another one draws from. */
  | 'value-set';

/** A code system or value set that is missing where it is needed. An expansion fails by it; of a single code it cannot be decided. */
export class TerminologyFault extends FhirError {
  /** @param canonical what is missing */
  constructor(
    readonly kind: FaultKind,
    readonly canonical: string,
    text: string,
    code: ErrorCode = 'terminology-not-found',
  ) {
    super(code, text);
  }
}
