import type { Call } from '../../core/call.js';
import type { Services } from '../../core/services.js';
import { composePut } from '../../core/write/compose-change.js';
import { newId } from '../../fhir/id.js';
import type { Change } from '../../store/store.js';
import { provenanceOf, stepRecordId, type Deed, type VersionKey } from './provenance.js';
import { makeSeal } from './seal.js';

/**
 * The creation of the Provenance that records what is done, sealed by the server.
 *
 * @param start when it began: milliseconds since the epoch
 * @param of the step of a job that it records; absent: it was done at once
 */
export async function recordOf(
  deed: Deed,
  start: number,
  { principal }: Pick<Call, 'principal'>,
  services: Services,
  of?: { readonly task: string; readonly step: number },
): Promise<Change> {
  const id = of === undefined ? newId() : stepRecordId(of.task, of.step);
  const seal = await makeSeal(id, deed, of?.task, services.store.maps);
  const resource = provenanceOf(deed, { start, end: Math.max(start, Date.now()) }, principal, seal, of?.task);
  const record = await composePut(resource, id, undefined, services);
  if (record === undefined) throw new Error('a creation without a content');
  return record;
}

/** The version that a change makes: a store numbers the versions of a resource without gaps. */
export function versionAfter({ type, id, expected }: Change): VersionKey {
  return { type, id, version: expected + 1 };
}

/** The precondition that a resource is there when changes are written. */
export function stillThere({ type, id }: VersionKey) {
  return { type, where: { ids: [id] }, found: [id] };
}
