import { FhirError } from '../fhir/errors.js';
import type { StoredVersion } from '../store/store.js';
import type { Call, Reply } from './call.js';
import { noteRead } from './read-hook.js';
import { checkRead, isUnmodified, liveVersion } from './write/preconditions.js';
import type { Services } from './services.js';
import { readView, viewJson } from './view.js';

/**
 * The answer to a read of this version: 200, of which the hooks learn, or 304 where the client has it.
 *
 * @throws FhirError `deleted` where the version is a deletion
 */
export function replyVersion(call: Call, stored: StoredVersion, services: Services): Reply {
  const live = liveVersion(stored);
  if (live === undefined) {
    throw new FhirError('deleted', `${stored.type}/${stored.id} was deleted with version ${stored.version}`);
  }
  checkRead(call.conditions, live);
  const view = readView(call, services);
  const versionId = String(live.version);
  const { lastUpdated } = live;
  if (isUnmodified(call, live)) return { status: 304, versionId, lastUpdated };
  noteRead(stored, call, services);
  return { status: 200, versionId, lastUpdated, json: viewJson(live.json, view, services) };
}
