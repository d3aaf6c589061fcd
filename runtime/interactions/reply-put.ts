import { FhirError } from '../fhir/errors.js';
import type { StoredVersion } from '../store/store.js';
import type { Call, Reply } from './call.js';
import { liveVersion } from './preconditions.js';
import { replyWritten } from './reply-written.js';
import type { Target } from './write-plan.js';

/**
 * The answer to a write of content: created, updated, or unchanged.
 *
 * @param after absent: the version that was there is the right one already
 */
export function replyPut(call: Call, { current }: Target, after: StoredVersion | undefined): Reply {
  const live = liveVersion(current);
  if (after !== undefined) {
    return live === undefined ? replyWritten(call, 201, after, 'created') : replyWritten(call, 200, after, 'updated');
  }
  if (live === undefined) throw new FhirError('internal');
  return replyWritten(call, 200, live, 'unchanged');
}

/**
 * The answer to a conditional create of what is there: as if it had just been created, but for the status.
 * https://hl7.org/fhir/R5/http.html#ccreate
 */
export function replyThere(call: Call, { current }: Target): Reply {
  if (current === undefined) throw new FhirError('internal');
  const reply = replyWritten(call, 200, current, 'is there already');
  return { ...reply, location: `${current.type}/${current.id}/_history/${current.version}` };
}
