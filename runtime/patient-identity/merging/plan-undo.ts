import type { Call } from '../../core/call.js';
import { readStored } from '../../core/read-stored.js';
import type { Services } from '../../core/services.js';
import { equalJson } from '../../fhir/equal.js';
import { FhirError } from '../../fhir/errors.js';
import { clientMeta, withMeta } from '../../fhir/meta.js';
import type { Resource } from '../../fhir/resource.js';
import { yieldToEventLoop } from '../../fhir/yield-to-event-loop.js';
import type { ReferenceWalk } from '../../path/reference-walk.js';
import type { Put, StoredVersion } from '../../store/store.js';
import { isMergedSource, isMergedTarget } from '../../jobs/replacement/merged-content.js';
import { changeOf, checkReach, checkTypes } from '../../jobs/replacement/plan-replacement.js';
import { madeBy, type VersionKey } from '../../jobs/replacement/provenance.js';
import type { RecordedDeed } from '../../jobs/replacement/read-record.js';
import { renameReferences } from '../../jobs/replacement/rename-references.js';
import { isSame } from './find-deed.js';

/** Resources that one undo restores at most. */
export const MOST_RESTORED = 10_000;

/** Resources that are read at once: a store that is far away is not waited for once for each. */
const CHUNK = 100;

/**
 * Plans the undo of a replacement or merge: each resource that it changed gets the content back that it had before, as a new version.
 * All of them are as the Provenance says, or there is no plan.
 *
 * @throws FhirError `parameter-invalid` where there are too many, `scope-missing`, `version-conflict` where a resource was changed
 * since, `deleted` where it was deleted
 */
export async function planUndo(
  deed: RecordedDeed,
  walk: ReferenceWalk,
  call: Call,
  services: Services,
  signal: AbortSignal | undefined,
): Promise<readonly Put[]> {
  const changed = madeBy(deed);
  const { record } = deed;
  if (changed.length > MOST_RESTORED) {
    const text = `Provenance/${record} names ${changed.length} resources; one undo restores at most ${MOST_RESTORED}`;
    throw new FhirError('parameter-invalid', text, { issue: 'too-costly' });
  }
  checkTypes(new Set(changed.map(({ type }) => type)), call, services);
  const pace = yieldToEventLoop();
  const puts: Put[] = [];
  for (let at = 0; at < changed.length; at += CHUNK) {
    signal?.throwIfAborted();
    const keys = changed.slice(at, at + CHUNK);
    const versions = await services.store.readMany(keys);
    const former = await Promise.all(
      keys.map(({ type, id, version }) => services.store.readVersion(type, id, version - 1)),
    );
    for (const [i, key] of keys.entries()) {
      await pace();
      signal?.throwIfAborted();
      puts.push(await restoring(key, versions[i], former[i], deed, walk, call, services));
    }
  }
  return puts;
}

/** The change that restores one resource. What the token may not see is refused before the state of it could be learned. */
async function restoring(
  key: VersionKey,
  current: StoredVersion | undefined,
  before: StoredVersion | undefined,
  deed: RecordedDeed,
  walk: ReferenceWalk,
  call: Call,
  services: Services,
): Promise<Put> {
  const name = `${key.type}/${key.id}`;
  if (current === undefined) throw new FhirError('deleted', `${name} is not there any more, so nothing was restored`);
  await checkReach(current, call, services);
  if (current.version !== key.version) {
    const since = current.json === undefined ? 'deleted' : 'changed';
    const text = `${name} was ${since} with version ${current.version}, after version ${key.version} that the undo is about; nothing was restored`; // prettier-ignore
    throw new FhirError(current.json === undefined ? 'deleted' : 'version-conflict', text);
  }
  if (before?.json === undefined) {
    const text = `Version ${key.version - 1} of ${name} is not kept any more, so nothing was restored`;
    throw new FhirError('version-conflict', text);
  }
  const content = await readStored(before.json, services);
  if (!(await isMade(before.json, current, deed, walk, services))) {
    const what = deed.activity === 'merge' ? 'merge' : 'replacement';
    const text = `Version ${key.version} of ${name} is not what a ${what} makes of the version before, so nothing was restored`;
    throw new FhirError('version-conflict', text);
  }
  if (current.amended !== undefined && !(await hasLabelsOf(content, current, services))) {
    const text = `The labels of version ${key.version} of ${name} were changed in place since, and an undo would lose that; nothing was restored`; // prettier-ignore
    throw new FhirError('version-conflict', text);
  }
  return changeOf(current, content, call, services);
}

/** Whether a version has the profiles, tags and security labels of a content. */
async function hasLabelsOf(content: Resource, { json = '{}' }: StoredVersion, services: Services): Promise<boolean> {
  const of = (resource: Resource) => clientMeta(resource) ?? {};
  return equalJson(of(content), of(await readStored(json, services)));
}

/** Whether a version is still what the replacement or merge made of the one before: labels of a version can be changed in place. */
async function isMade(
  before: string,
  current: StoredVersion,
  { activity, source, target }: RecordedDeed,
  walk: ReferenceWalk,
  services: Services,
): Promise<boolean> {
  const { own } = services;
  if (current.json === undefined) return false;
  const expected = await readStored(before, services);
  const content = await readStored(current.json, services);
  if (activity === 'merge' && isSame(current, source)) return isMergedSource(expected, content, target, own);
  if (activity === 'merge' && isSame(current, target)) return isMergedTarget(content, source, own);
  renameReferences(expected, { from: source, to: target, own }, walk);
  return equalJson(comparable(expected), comparable(content));
}

/** Without version and time, which differ. */
function comparable(resource: Resource): Resource {
  return withMeta(resource, String(resource['id']), clientMeta(resource));
}
