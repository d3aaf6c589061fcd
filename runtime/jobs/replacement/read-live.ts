import { neededOn } from '../../auth/access/needed-scopes.js';
import { scopeMissing } from '../../auth/access/refuse.js';
import { OPEN_ACCESS } from '../../auth/scopes/principal.js';
import { isHiddenByIndex } from '../../core/access/index-visibility.js';
import { isShown } from '../../core/access/visibility.js';
import type { Call } from '../../core/call.js';
import type { Services } from '../../core/services.js';
import { liveVersion, type LiveVersion } from '../../core/write/preconditions.js';
import { FhirError } from '../../fhir/errors.js';
import { newId } from '../../fhir/id.js';
import type { ResourceKey, StoredVersion } from '../../store/store.js';

/** Letters any of which shows that a resource is there. */
const SHOWING = ['r', 's', 'u'];

/**
 * The current version of a resource, as the token may learn of it.
 *
 * @throws FhirError `scope-missing` where the token shows nothing of the type, `not-found`, `deleted`
 */
export async function readLive(key: ResourceKey, call: Call, services: Services): Promise<LiveVersion> {
  const stored = await readShown(key, call, services);
  if (stored === undefined) throw new FhirError('not-found', `There is no ${key.type}/${key.id}`);
  const live = liveVersion(stored);
  if (live !== undefined) return live;
  throw new FhirError('deleted', `${key.type}/${key.id} was deleted with version ${stored.version}`);
}

/** The same; undefined: there is none that the token may learn of. */
async function readShown(key: ResourceKey, call: Call, services: Services): Promise<StoredVersion | undefined> {
  checkShowing(key, call);
  // One that is hidden is denied as fast as one that never was.
  const id = (await isHiddenEntirely(key, call, services)) ? newId() : key.id;
  const stored = await services.store.read(key.type, id);
  return stored !== undefined && (await isShown(stored, call, services, SHOWING)) ? stored : undefined;
}

/**
 * Whether there is a resource that the token may not learn of.
 *
 * @throws FhirError `scope-missing` where the token shows nothing of the type
 */
export async function isHidden(key: ResourceKey, call: Call, services: Services): Promise<boolean> {
  checkShowing(key, call);
  if (await isHiddenEntirely(key, call, services)) return true;
  const stored = await services.store.read(key.type, key.id);
  return stored !== undefined && !(await isShown(stored, call, services, SHOWING));
}

function checkShowing({ type }: ResourceKey, { principal: { access } }: Call): void {
  if (access !== OPEN_ACCESS && access.onAny(type, SHOWING) === 'nothing')
    throw scopeMissing(neededOn(type, 'r'), access);
}

async function isHiddenEntirely(key: ResourceKey, call: Call, services: Services): Promise<boolean> {
  const { access } = call.principal;
  for (const letter of SHOWING) {
    if (access.on(key.type, letter) === 'nothing') continue;
    if (!(await isHiddenByIndex(key, letter, call, services))) return false;
  }
  return true;
}
