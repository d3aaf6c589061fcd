import type { FhirError } from '../fhir/errors.js';
import type { Call, Reply } from './call.js';

/** A call that failed, or what was known of it by then. */
export type FailedCall = Partial<
  Pick<
    Call,
    'interaction' | 'operation' | 'type' | 'id' | 'versionId' | 'member' | 'params' | 'form' | 'principal' | 'trace'
  >
>;

/** A call that was answered. Without an interaction it is an `OPTIONS` request. */
export type AnsweredCall = FailedCall & Partial<Pick<Call, 'body'>>;

/**
 * Takes down what calls came to: requests, and entries of Bundles by themselves, since each of them reads or writes. Neither
 * throws.
 */
export interface CallAudit {
  answered(call: AnsweredCall, reply: Reply): void;
  failed(call: FailedCall, error: FhirError): void;
}
