import type { Call } from '../core/call.js';
import { sendAudited } from '../core/call-audit.js';
import type { Services } from '../core/services.js';
import { FhirError } from '../fhir/errors.js';

/** Statuses of a write whose resource is not any more what it was. */
const CHANGED: ReadonlySet<number> = new Set([404, 410, 412]);

/**
 * Does a write of a job as the client's own, with its audit and no limit of time.
 *
 * @returns `skipped` where the resource is not any more what it was; the error of a write that is refused otherwise
 * @throws what is tried again: faults of the server, and the signal's reason
 */
export async function writeOne(
  call: Call,
  services: Services,
  signal: AbortSignal,
): Promise<'done' | 'skipped' | FhirError> {
  const { audit, limits } = services;
  try {
    const reply = await services.entries.handle(call, { ...services, limits: { ...limits, answerTime: Infinity } });
    await sendAudited(audit, call, reply, async () => {});
    return 'done';
  } catch (error) {
    signal.throwIfAborted();
    if (!(error instanceof FhirError) || error.status >= 500) throw error;
    audit.failed(call, error);
    return CHANGED.has(error.status) ? 'skipped' : error;
  }
}
