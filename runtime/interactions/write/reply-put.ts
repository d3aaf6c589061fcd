import { FhirError } from '../../fhir/errors.js';
import type { StoredVersion } from '../../store/store.js';
import type { Call, Reply } from '../../core/call.js';
import { liveVersion } from '../../core/write/preconditions.js';
import { replyWritten, versionPath } from './reply-written.js';
import type { Target } from '../../core/write/write-plan.js';

/**
 * The answer to a write of content: created, updated, or unchanged. Who named criteria, and no id, is told what they found,
 * also where the answer has no body. RFC 9110, 8.7
 *
 * @param after absent: the version that was there is the right one already
 */
export function replyPut(call: Call, { current }: Target, after: StoredVersion | undefined): Reply {
  const live = liveVersion(current);
  if (after !== undefined && live === undefined) return replyWritten(call, 201, after, 'created');
  const version = after ?? live;
  if (version === undefined) throw new FhirError('internal');
  const reply = replyWritten(call, 200, version, after === undefined ? 'unchanged' : 'updated');
  return call.id === undefined ? { ...reply, contentLocation: versionPath(version) } : reply;
}

/**
 * The answer to a conditional create of what is there: as if it had just been created, but for the status.
 * https://hl7.org/fhir/R5/http.html#ccreate
 */
export function replyExisting(call: Call, { current }: Target): Reply {
  if (current === undefined) throw new FhirError('internal');
  const reply = replyWritten(call, 200, current, 'is there already');
  return { ...reply, location: versionPath(current) };
}
