import { MOST_BINARIES } from '../../auth/access/search-access.js';
import { isWithinReach } from '../../auth/access/visible.js';
import { isObject, type Resource } from '../../fhir/resource.js';
import type { Candidate } from '../../search/query/match.js';
import type { ResourceKey } from '../../store/store.js';
import { BINARY } from '../binary/binary-content.js';
import type { Call } from '../call.js';
import { candidateOf } from '../write/candidate.js';
import { isFound, isIndexCurrent } from './index-visibility.js';
import { liveVersion } from '../write/preconditions.js';
import { readStored } from '../read-stored.js';
import type { Services } from '../services.js';

/** Who looks. */
export type Looking = Pick<Call, 'principal' | 'signal'>;

/** Services that visibility is decided with. */
export type VisibilityServices = Pick<Services, 'store' | 'extract' | 'largeTexts' | 'indexStatus' | 'own'>;

/**
 * Whether a Binary may be seen, as far as its `securityContext` decides: as the resource that this leads to is read. The
 * index tells, so that a context that is hidden takes no longer the more it holds. Of a Binary the content tells, which is
 * small, for its own context decides as well, and that the index could only tell by a look at all types.
 * https://hl7.org/fhir/R5/binary.html#security
 *
 * @param left Binaries that it may lead through
 */
export async function isContextVisible(
  binary: Resource,
  looking: Looking,
  services: VisibilityServices,
  left = MOST_BINARIES,
): Promise<boolean> {
  const context = contextOf(binary, services);
  if (typeof context === 'string') return context === 'none';
  if (context.type === BINARY || !(await isIndexCurrent(services))) {
    return isContentSeen(context, looking, services, left);
  }
  const reach = looking.principal.access.on(context.type, 'r');
  return reach !== 'nothing' && isFound(context, reach, looking, services);
}

/**
 * Whether the token may read all resources of the type that the `securityContext` of a Binary names, so that one of them that is deleted
 * hides nothing from it.
 */
export function isContextGiven(binary: Resource, looking: Looking, services: Pick<Services, 'own'>): boolean {
  const context = contextOf(binary, services);
  if (typeof context === 'string') return context === 'none';
  return context.type !== BINARY && looking.principal.access.on(context.type, 'r') === 'everything';
}

/** The same by what the context holds. */
async function isContentSeen(
  { type, id }: ResourceKey,
  looking: Looking,
  services: VisibilityServices,
  left: number,
): Promise<boolean> {
  const found = liveVersion(await services.store.read(type, id));
  if (found === undefined) return false;
  const reach = looking.principal.access.on(type, 'r');
  // Its content decides only where a condition asks for it.
  const isRead = typeof reach !== 'string' || type === BINARY;
  const resource = isRead ? await readStored(found.json, services) : undefined;
  const candidate = (): Candidate => candidateOf(found, resource ?? { resourceType: type }, services);
  if (!isWithinReach(reach, candidate)) return false;
  if (type !== BINARY || resource === undefined) return true;
  return left > 0 && isContextVisible(resource, looking, services, left - 1);
}

/** What the `securityContext` names: there is none, or it leads nowhere, or to a resource here, if that is there. */
function contextOf({ securityContext }: Resource, { own }: Pick<Services, 'own'>): ResourceKey | 'none' | 'nowhere' {
  if (securityContext === undefined) return 'none';
  const text = isObject(securityContext) ? securityContext['reference'] : undefined;
  return own.readLocal(text) ?? 'nowhere';
}
