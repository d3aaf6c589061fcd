import { FhirError } from '../fhir/errors.js';
import type { StoredVersion } from '../store/store.js';
import type { Call, Reply } from './call.js';
import { isUnmodified, liveVersion } from './preconditions.js';

/**
 * The answer to a read of this version: 200, or 304 where the client has it.
 *
 * @throws FhirError `deleted` where the version is a deletion
 */
export function replyVersion(call: Call, stored: StoredVersion): Reply {
  const live = liveVersion(stored);
  if (live === undefined) {
    throw new FhirError('deleted', `${stored.type}/${stored.id} was deleted with version ${stored.version}`);
  }
  const head = { versionId: String(live.version), lastUpdated: live.lastUpdated };
  return isUnmodified(call, live) ? { ...head, status: 304 } : { ...head, status: 200, json: live.json };
}
