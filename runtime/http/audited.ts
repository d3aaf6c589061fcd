import type { Call, Reply } from '../core/call.js';
import type { Services } from '../core/services.js';
import { FhirError } from '../fhir/errors.js';

/** Records in the audit a call that a page makes: the page itself is neither an interaction nor an operation. @throws as the work */
export async function audited<T>(
  call: Call,
  { audit }: Pick<Services, 'audit'>,
  work: () => Promise<T>,
  replyOf: (made: T) => Reply,
): Promise<T> {
  try {
    const made = await work();
    audit.answered(call, replyOf(made));
    return made;
  } catch (error) {
    audit.failed(call, error instanceof FhirError ? error : new FhirError('internal'));
    throw error;
  }
}
