import type { Call } from '../../core/call.js';
import type { Services } from '../../core/services.js';
import { composePut } from '../../core/write/compose-change.js';
import { newId } from '../../fhir/id.js';
import type { Change } from '../../store/store.js';
import { provenanceOf, type Deed, type VersionKey } from './provenance.js';

/**
 * The creation of the Provenance that records what is done.
 *
 * @param start when it began: milliseconds since the epoch
 */
export async function recordOf(
  deed: Deed,
  start: number,
  { principal }: Pick<Call, 'principal'>,
  services: Services,
): Promise<Change> {
  const resource = provenanceOf(deed, { start, end: Math.max(start, Date.now()) }, principal);
  const record = await composePut(resource, newId(), undefined, services);
  if (record === undefined) throw new Error('a creation without a content');
  return record;
}

/** The version that a change makes: a store numbers the versions of a resource without gaps. */
export function versionAfter({ type, id, expected }: Change): VersionKey {
  return { type, id, version: expected + 1 };
}
