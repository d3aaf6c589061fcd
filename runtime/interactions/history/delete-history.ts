import { lackedOf, neededOn, uniteNeeded } from '../../auth/access/needed-scopes.js';
import { constraintsMissed, refusal } from '../../auth/access/refuse.js';
import { isHiddenByIndex } from '../../core/access/index-visibility.js';
import { isContextGiven } from '../../core/access/security-context.js';
import { isVisible, visibleVersions } from '../../core/access/visibility.js';
import { BINARY } from '../../core/binary/binary-content.js';
import type { Call, Reply } from '../../core/call.js';
import { expungeVersions } from '../../core/expunge.js';
import { checkParameters } from '../../core/parameters.js';
import { readStored } from '../../core/read-stored.js';
import type { Services } from '../../core/services.js';
import { targetOf } from '../../core/target.js';
import { FhirError } from '../../fhir/errors.js';
import { newId, versionNumber } from '../../fhir/id.js';
import { successOutcome } from '../../fhir/operation-outcome.js';
import type { StoredVersion } from '../../store/store.js';

/**
 * `DELETE [base]/[type]/[id]/_history`: removes all versions but the current one for good.
 * https://hl7.org/fhir/R5/http.html#delete-history
 *
 * @throws FhirError `not-found` for a resource that never was, or that the token may not delete, `scope-missing` where it may not delete one
 * of the versions
 */
export async function deleteHistory(call: Call, services: Services): Promise<Reply> {
  checkParameters(call);
  await checkExpungeTarget(call, services);
  await checkAllVersions(call, services);
  const { type, id } = targetOf(call);
  const count = await expungeVersions({ type, id, previous: true, limit: Infinity }, services.store, call.signal);
  return { status: 200, resource: successOutcome(`Removed ${count} past versions of ${type}/${id}`) };
}

/**
 * `DELETE [base]/[type]/[id]/_history/[vid]`: removes one past version for good.
 * https://hl7.org/fhir/R5/http.html#delete-history-version
 *
 * @throws FhirError `not-found` for a version that is not there, or that the token may not delete, `precondition-failed` for the
 * current one
 */
export async function deleteHistoryVersion(call: Call, services: Services): Promise<Reply> {
  checkParameters(call);
  await checkExpungeTarget(call, services);
  await removeVersion(call, services);
  const { type, id, versionId } = call;
  return { status: 200, resource: successOutcome(`Removed version ${versionId} of ${type}/${id}`) };
}

/**
 * Checks that the resource in the URL is there and that the token may delete it: what a constraint hides is as good as missing,
 * whichever version is asked for. A deleted resource is judged by the last content that is left of it; where none is, nothing is hidden.
 *
 * @throws FhirError `not-found`
 */
export async function checkExpungeTarget(call: Call, services: Services): Promise<void> {
  const { type, id } = targetOf(call);
  const looked = (await isHiddenByIndex({ type, id }, 'd', call, services)) ? newId() : id;
  const current = await services.store.read(type, looked);
  if (current !== undefined && mayDeleteAll(call, services)) return;
  const judged = current?.json === undefined ? await lastContent(type, looked, call, services) : current;
  if (current === undefined || (judged !== undefined && !(await mayDelete(judged, call, services)))) {
    throw new FhirError('not-found', `There is no ${type}/${id}`);
  }
}

/**
 * Checks that the token may delete each version of the resource in the URL, by its own content: what it may not is not removed with the
 * others. A deletion goes with the version that it deleted.
 *
 * @throws FhirError `scope-missing`
 */
export async function checkAllVersions(call: Call, services: Services): Promise<void> {
  const { type, id } = targetOf(call);
  if (mayDeleteAll(call, services)) return;
  const reach = call.principal.access.on(type, 'd');
  for await (const versions of contentsOf(type, id, call, services)) {
    const visible = await visibleVersions(versions, () => reach, call, services);
    for (const version of versions) {
      if (visible.includes(version) || (await isFreed(version, call, services))) continue;
      throw allNeeded(call, `A version of ${type}/${id}`);
    }
  }
}

/**
 * Whether the token may delete all resources of the type in the URL, whatever they hold. Of Binaries it may where it may read whatever
 * a `securityContext` could lead to, so that one that leads nowhere any more hides nothing from it.
 */
export function mayDeleteAll({ type = '', principal: { access } }: Call, { tables }: Services): boolean {
  if (access.on(type, 'd') !== 'everything') return false;
  return type !== BINARY || tables.resourceTypes.every((each) => access.on(each, 'r') === 'everything');
}

/** The refusal of a token that may not delete all of what a request is about. @param what that is, as the beginning of a sentence */
export function allNeeded({ type = '', principal: { access, scope } }: Call, what: string): FhirError {
  const needed = uniteNeeded([neededOn(type, 'd'), ...(type === BINARY ? [neededOn('*', 'r')] : [])]);
  if (access.on(type, 'd') !== 'everything') return constraintsMissed(what, needed, scope);
  const text = `${what} may be hidden from the token by a securityContext, and needs`;
  return refusal('scope-missing', { needed, lacked: lackedOf(needed, access), text });
}

/** Versions that are judged together. */
const JUDGED = 50;

/** Versions of a resource that have content, the newest first, in pages. */
async function* contentsOf(
  type: string,
  id: string,
  { signal }: Call,
  { store }: Services,
): AsyncGenerator<readonly StoredVersion[]> {
  for (let after: string | undefined, isFirst = true; isFirst || after !== undefined; isFirst = false) {
    const page = await store.history({ type, id, count: JUDGED, ...(after !== undefined && { after }) }, signal);
    yield page.versions.filter(({ json }) => json !== undefined);
    after = page.next;
  }
}

async function lastContent(type: string, id: string, call: Call, services: Services) {
  for await (const [newest] of contentsOf(type, id, call, services)) if (newest !== undefined) return newest;
  return undefined;
}

/**
 * Removes the version in the URL. To be called after `checkExpungeTarget`.
 *
 * @returns how many versions that are
 * @throws FhirError `not-found` for one that is not there or outside of the token's constraint, `precondition-failed`
 */
export async function removeVersion(call: Call, services: Services): Promise<number> {
  const { store } = services;
  const { type, id } = targetOf(call);
  const version = versionNumber(call.versionId ?? '');
  const stored = version === undefined ? undefined : await store.readVersion(type, id, version);
  if (stored === undefined || version === undefined || !(await mayRemove(stored, call, services))) {
    throw new FhirError('not-found', `There is no version ${call.versionId} of ${type}/${id}`);
  }
  if ((await store.read(type, id))?.version === version) {
    const text = `Version ${version} of ${type}/${id} is the current one; only past versions can be removed by their number`;
    throw new FhirError('precondition-failed', text);
  }
  return expungeVersions({ type, id, version, limit: 1 }, store, call.signal);
}

/** Whether the token may delete a version by its content; a deletion by the one before, and where that is gone nothing is hidden. */
async function mayRemove(stored: StoredVersion, call: Call, services: Services): Promise<boolean> {
  if (mayDeleteAll(call, services)) return true;
  const { type, id, version, json } = stored;
  const judged = json === undefined ? await services.store.readVersion(type, id, version - 1) : stored;
  return judged === undefined || mayDelete(judged, call, services);
}

async function mayDelete(version: StoredVersion, call: Call, services: Services): Promise<boolean> {
  return (await isVisible(version, 'd', call, services)) || (await isFreed(version, call, services));
}

/** Whether a version of a Binary is hidden for no other reason than that its `securityContext` is deleted. */
async function isFreed({ type, json }: StoredVersion, call: Call, services: Services): Promise<boolean> {
  if (type !== BINARY || !json || call.principal.access.on(type, 'd') !== 'everything') return false;
  return isContextGiven(await readStored(json, services), call, services);
}
