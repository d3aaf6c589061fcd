import { FhirError } from '../../fhir/errors.js';
import type { StoredVersion } from '../../store/store.js';
import type { Call, Reply } from '../../core/call.js';
import { liveVersion } from '../../core/write/preconditions.js';
import { replyWritten } from './reply-written.js';
import type { Target } from '../../core/write/write-plan.js';

/**
 * The answer to a create or update: created, updated, or unchanged.
 *
 * @param after the new version; absent if the current version has this content already
 */
export function replyPut(call: Call, { current }: Target, after: StoredVersion | undefined): Reply {
  const live = liveVersion(current);
  if (after !== undefined && live === undefined) return replyWritten(call, 201, after, 'created');
  const version = after ?? live;
  if (version === undefined) throw new FhirError('internal');
  return replyWritten(call, 200, version, after === undefined ? 'unchanged' : 'updated');
}

/**
 * The answer to a conditional create that found an existing resource: that of a create, but with status 200.
 * https://hl7.org/fhir/R5/http.html#ccreate
 */
export function replyExisting(call: Call, { current }: Target): Reply {
  if (current === undefined) throw new FhirError('internal');
  return replyWritten(call, 200, current, 'is there already');
}
