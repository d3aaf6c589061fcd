import type { FhirError } from '../fhir/errors.js';
import type { Call, Reply } from './call.js';
import type { ReadNotes } from './read-notes.js';

/** A call that failed, or what was known of it by then. */
export type FailedCall = Partial<
  Pick<
    Call,
    | 'interaction'
    | 'operation'
    | 'type'
    | 'id'
    | 'versionId'
    | 'member'
    | 'params'
    | 'form'
    | 'body'
    | 'content'
    | 'principal'
    | 'trace'
    | 'isProvided'
  >
>;

/** A call that was answered. Without an interaction it is an `OPTIONS` request. */
export type AnsweredCall = FailedCall;

/**
 * Takes down what calls came to: requests, and entries of Bundles by themselves, since each of them reads or writes. Neither
 * throws.
 */
export interface CallAudit {
  answered(call: AnsweredCall, reply: Reply): void;
  failed(call: FailedCall, error: FhirError): void;
  /** Notes for one answer (`Reply.reads`). Absent: the audit is off. */
  notes?(): ReadNotes;
}

/** Takes a call down, and sends its answer. Where that is read while it is sent, it is known afterwards whom it was about. */
export async function sendAudited<T>(
  audit: CallAudit,
  call: AnsweredCall,
  reply: Reply,
  send: () => Promise<T>,
): Promise<T> {
  const isReadLater = reply.reads !== undefined && typeof reply.body?.content !== 'string';
  if (!isReadLater) audit.answered(call, reply);
  try {
    return await send();
  } finally {
    if (isReadLater) audit.answered(call, reply);
  }
}
