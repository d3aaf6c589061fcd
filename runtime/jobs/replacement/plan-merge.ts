import type { Call } from '../../core/call.js';
import { readStored } from '../../core/read-stored.js';
import type { Services } from '../../core/services.js';
import { FhirError } from '../../fhir/errors.js';
import type { Resource } from '../../fhir/resource.js';
import type { Put, ResourceKey } from '../../store/store.js';
import { checkMergeable, mergedSource, mergedTarget, resultFor } from './merged-content.js';
import { changeOf } from './plan-replacement.js';
import { readLive } from './read-live.js';

/** The two resources of a merge. */
export interface Sides {
  readonly source: ResourceKey;
  readonly target: ResourceKey;
  /** What the target shall be; absent: the server decides. */
  readonly result?: Resource | undefined;
}

/** Changes that a merge makes to the two resources themselves. */
export interface ChangedSides {
  readonly target: Put;
  readonly source: Put;
}

/**
 * Plans what a merge changes of the two resources themselves.
 *
 * @param check called with what they are before, once it is known that the token may see both
 * @throws FhirError `merge-refused`, `not-found`, `deleted`, `scope-missing`, and as `check`
 */
export async function planSides(
  { source, target, result }: Sides,
  call: Call,
  services: Services,
  check: (source: Resource, target: Resource) => void = () => {},
): Promise<ChangedSides> {
  if (source.id === target.id) throw new FhirError('merge-refused', 'Source and target are the same resource');
  const versions = { source: await readLive(source, call, services), target: await readLive(target, call, services) };
  const from = await readStored(versions.source.json, services);
  const to = await readStored(versions.target.json, services);
  check(from, to);
  checkMergeable(from, to);
  const next = result === undefined ? mergedTarget(to, from, source, services.own) : resultFor(result, to);
  return {
    target: await changeOf(versions.target, next, call, services),
    source: await changeOf(versions.source, mergedSource(from, target), call, services),
  };
}
