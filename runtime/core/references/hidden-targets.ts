import { OPEN_ACCESS } from '../../auth/scopes/principal.js';
import type { Change, RequiredTarget, StoredVersion } from '../../store/store.js';
import type { Looking, VisibilityServices } from '../access/security-context.js';
import { isJudged, isVisible } from '../access/visibility.js';

/** Letters each of which shows that something is there: who may update or delete it learns that from the answer. */
const PRESENCE = ['r', 's', 'u', 'd'];

/** Letters either of which shows what is there. */
const SHOWING = ['r', 's'];

/**
 * Marks the targets of changes that the token does not show: they count as missing, whether they are there or not, so that a refusal
 * tells nothing of them.
 */
export async function hideTargets<C extends Change>(
  changes: readonly C[],
  looking: Looking,
  services: VisibilityServices,
): Promise<readonly C[]> {
  if (looking.principal.access === OPEN_ACCESS || !changes.some(({ targets }) => targets !== undefined)) return changes;
  const known = new Map<string, Promise<boolean>>();
  const isHidden = (target: RequiredTarget): Promise<boolean> => {
    const name = `${target.type}/${target.id}/${target.version ?? ''}`;
    const found = known.get(name) ?? isTargetHidden(target, looking, services);
    known.set(name, found);
    return found;
  };
  const marked: C[] = [];
  for (const change of changes) {
    if (change.targets === undefined) {
      marked.push(change);
      continue;
    }
    const targets: RequiredTarget[] = [];
    for (const target of change.targets)
      targets.push((await isHidden(target)) ? { ...target, isHidden: true } : target);
    marked.push({ ...change, targets });
  }
  return marked;
}

/** Whether a target of a change is missing, or counts as missing. */
export async function leadsToNothing(change: Change, looking: Looking, services: VisibilityServices): Promise<boolean> {
  const [{ targets = [] } = change] = await hideTargets([change], looking, services);
  for (const target of targets)
    if (target.isHidden === true || (await read(target, services))?.json === undefined) return true;
  return false;
}

async function isTargetHidden(
  target: RequiredTarget,
  looking: Looking,
  services: VisibilityServices,
): Promise<boolean> {
  const { access } = looking.principal;
  const reaches = PRESENCE.map((letter) => access.on(target.type, letter));
  // Nothing is looked up of a type that the token gives all or nothing of.
  if (reaches.every((reach) => reach === 'nothing')) return true;
  if (reaches.some((reach) => reach === 'everything' && !isJudged(target.type, reach))) return false;
  const version = await read(target, services);
  // The store says that it is missing.
  return version?.json !== undefined && !(await isShown(version, looking, services, PRESENCE));
}

/** Whether a token shows a version. */
export async function isShown(
  version: StoredVersion,
  looking: Looking,
  services: VisibilityServices,
  letters: readonly string[] = SHOWING,
): Promise<boolean> {
  for (const letter of letters) if (await isVisible(version, letter, looking, services)) return true;
  return false;
}

function read({ type, id, version }: RequiredTarget, { store }: VisibilityServices) {
  return version === undefined ? store.read(type, id) : store.readVersion(type, id, version);
}
