import { versionsWithinReach } from '../../auth/access/visible.js';
import { OPEN_ACCESS } from '../../auth/scopes/principal.js';
import type { Reach } from '../../auth/scopes/reach.js';
import { yieldToEventLoop } from '../../fhir/yield-to-event-loop.js';
import type { Resource } from '../../fhir/resource.js';
import type { Candidate } from '../../search/query/match.js';
import type { StoredVersion } from '../../store/store.js';
import { BINARY } from '../binary/binary-content.js';
import { candidateOf } from '../write/candidate.js';
import { readStored } from '../read-stored.js';
import { isContextVisible, type Looking, type VisibilityServices } from './security-context.js';

/** Whether a version may be seen by who holds these letters on its type; what may not is treated as absent. */
export async function isVisible(
  version: StoredVersion,
  letters: string,
  looking: Looking,
  services: VisibilityServices,
): Promise<boolean> {
  const { access } = looking.principal;
  if (access === OPEN_ACCESS) return true;
  const reach = access.on(version.type, letters);
  if (!isJudged(version.type, reach)) return reach === 'everything';
  return (await visibleVersions([version], () => reach, looking, services)).length > 0;
}

/** Letters either of which shows what a resource holds. */
export const SHOWING: readonly string[] = ['r', 's'];

/** Whether a token shows a version by one of some letters. */
export async function isShown(
  version: StoredVersion,
  looking: Looking,
  services: VisibilityServices,
  letters: readonly string[] = SHOWING,
): Promise<boolean> {
  for (const letter of letters) if (await isVisible(version, letter, looking, services)) return true;
  return false;
}

/** Whether the content of versions decides on who sees them. */
export function isJudged(type: string, reach: Reach): boolean {
  return typeof reach !== 'string' || (reach === 'everything' && type === BINARY);
}

/**
 * The versions that may be seen, each judged by its own content, a deletion by the version before, a Binary by its
 * `securityContext` as well.
 *
 * @param reach what may be seen of a type
 */
export async function visibleVersions(
  versions: readonly StoredVersion[],
  reach: (type: string) => Reach,
  looking: Looking,
  services: VisibilityServices,
): Promise<readonly StoredVersion[]> {
  const pace = yieldToEventLoop();
  const before = new Map<StoredVersion, StoredVersion | undefined>();
  const candidates = new Map<StoredVersion, Candidate>();
  const hidden = new Set<StoredVersion>();
  for (const version of versions) {
    const bounds = reach(version.type);
    if (!isJudged(version.type, bounds)) continue;
    await pace();
    const told = await toldVersion(version, services);
    if (version.json === undefined) before.set(version, told);
    const resource = told?.json === undefined ? undefined : await readStored(told.json, services);
    if (told === undefined || resource === undefined) hidden.add(version);
    else if (typeof bounds !== 'string') {
      candidates.set(version.json === undefined ? told : version, candidateOf(told, resource, services));
    }
    if (resource !== undefined && !(await mayShow(resource, looking, services))) hidden.add(version);
  }
  const candidate = (version: StoredVersion): Candidate => candidates.get(version)!;
  const visible = versionsWithinReach(versions, { reach, candidate, before: (deletion) => before.get(deletion) });
  return hidden.size === 0 ? visible : visible.filter((version) => !hidden.has(version));
}

/** The version whose content tells: of a deletion the one before. */
async function toldVersion(version: StoredVersion, { store }: VisibilityServices): Promise<StoredVersion | undefined> {
  if (version.json !== undefined && version.json !== '') return version;
  const { type, id, version: number } = version;
  // The text is empty where a transaction has no room for it.
  return store.readVersion(type, id, version.json === undefined ? number - 1 : number);
}

function mayShow(resource: Resource, looking: Looking, services: VisibilityServices): Promise<boolean> {
  return resource.resourceType === BINARY ? isContextVisible(resource, looking, services) : Promise.resolve(true);
}
