import { neededOn } from '../../auth/access/needed-scopes.js';
import { scopeMissing } from '../../auth/access/refuse.js';
import { OPEN_ACCESS } from '../../auth/scopes/principal.js';
import { isHiddenByIndex } from '../../core/access/index-visibility.js';
import { isJudged, isVisible, visibleVersions } from '../../core/access/visibility.js';
import type { Call, Reply } from '../../core/call.js';
import { expungeVersions } from '../../core/expunge.js';
import { checkParameters } from '../../core/parameters.js';
import type { Services } from '../../core/services.js';
import { targetOf } from '../../core/target.js';
import { FhirError } from '../../fhir/errors.js';
import { newId, versionNumber } from '../../fhir/id.js';
import { successOutcome } from '../../fhir/operation-outcome.js';

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
 * whichever version is asked for.
 *
 * @throws FhirError `not-found`
 */
export async function checkExpungeTarget(call: Call, services: Services): Promise<void> {
  const { type, id } = targetOf(call);
  const looked = (await isHiddenByIndex({ type, id }, 'd', call, services)) ? newId() : id;
  const current = await services.store.read(type, looked);
  if (current === undefined || !(await isVisible(current, 'd', call, services))) {
    throw new FhirError('not-found', `There is no ${type}/${id}`);
  }
}

/** Versions that are judged together. */
const JUDGED = 50;

/**
 * Checks that the token may delete each version of the resource in the URL, by its own content: what it may not is not removed with the
 * others.
 *
 * @throws FhirError `scope-missing`
 */
export async function checkAllVersions(call: Call, services: Services): Promise<void> {
  const { type, id } = targetOf(call);
  const { access } = call.principal;
  const reach = access.on(type, 'd');
  if (access === OPEN_ACCESS || !isJudged(type, reach)) return;
  for (let after: string | undefined, isFirst = true; isFirst || after !== undefined; isFirst = false) {
    const query = { type, id, count: JUDGED, ...(after !== undefined && { after }) };
    const page = await services.store.history(query, call.signal);
    const visible = await visibleVersions(page.versions, () => reach, call, services);
    if (visible.length < page.versions.length) throw scopeMissing(neededOn(type, 'd'), access);
    after = page.next;
  }
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
  if (stored === undefined || version === undefined || !(await isVisible(stored, 'd', call, services))) {
    throw new FhirError('not-found', `There is no version ${call.versionId} of ${type}/${id}`);
  }
  if ((await store.read(type, id))?.version === version) {
    const text = `Version ${version} of ${type}/${id} is the current one; only past versions can be removed by their number`;
    throw new FhirError('precondition-failed', text);
  }
  return expungeVersions({ type, id, version, limit: 1 }, store, call.signal);
}
