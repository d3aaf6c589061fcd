import type { Candidate } from '../search/query/match.js';
import { MOST_BINARIES } from '../auth/guard/search-access.js';
import { isContextVisible, type SecurityContext } from '../auth/guard/visible.js';
import { isObject, type Resource } from '../fhir/resource.js';
import { readReference } from '../path/reference-text.js';
import { BINARY } from './binary-content.js';
import type { Call } from './call.js';
import { candidateOf } from './candidate.js';
import { liveVersion, type LiveVersion } from './preconditions.js';
import { readStored } from './read-stored.js';
import type { Services } from './services.js';

/** Who looks. */
export type Looking = Pick<Call, 'principal' | 'base'>;

/** What is looked with. */
export type SightServices = Pick<Services, 'store' | 'extract' | 'largeTexts'>;

/**
 * Whether a Binary may be seen, as far as its `securityContext` decides: as the resource that this leads to is read.
 * https://hl7.org/fhir/R5/binary.html#security
 */
export async function isContextSeen(
  binary: Resource,
  looking: Looking,
  services: SightServices,
  left = MOST_BINARIES,
): Promise<boolean> {
  const { access } = looking.principal;
  const found = await findContext(binary, looking, services);
  if (typeof found === 'string') return isContextVisible(found, () => 'nothing');
  const { type } = found;
  const reach = access.on(type, 'r');
  // Its content decides only where a condition asks for it.
  const isRead = typeof reach !== 'string' || type === BINARY;
  const resource = isRead ? await readStored(found.json, services) : undefined;
  const candidate = (): Candidate => candidateOf(found, resource ?? { resourceType: type }, services);
  if (!isContextVisible({ type, candidate }, () => reach)) return false;
  if (type !== BINARY || resource === undefined) return true;
  return left > 0 && isContextSeen(resource, looking, services, left - 1);
}

/** The current version of what the `securityContext` names. */
async function findContext(
  { securityContext }: Resource,
  { base }: Looking,
  { store }: SightServices,
): Promise<LiveVersion | Extract<SecurityContext, string>> {
  if (securityContext === undefined) return 'none';
  const text = isObject(securityContext) ? securityContext['reference'] : undefined;
  const named = typeof text === 'string' ? readReference(text) : undefined;
  if (named === undefined || (named.base !== undefined && named.base !== base)) return 'nowhere';
  return liveVersion(await store.read(named.type, named.id)) ?? 'nowhere';
}
