import { OPEN_ACCESS } from '../../auth/scopes/principal.js';
import { yieldToEventLoop } from '../../fhir/yield-to-event-loop.js';
import type { Change, RequiredTarget, StoredVersion } from '../../store/store.js';
import type { Looking, VisibilityServices } from '../access/security-context.js';
import { isJudged, isShown } from '../access/visibility.js';

/** Letters each of which shows that something is there: who may update or delete it learns that from the answer. */
const PRESENCE = ['r', 's', 'u', 'd'];

/** Targets that are read at once: each may be large. */
const AT_ONCE = 20;

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
  const hidden = await findHidden(
    changes.flatMap(({ targets = [] }) => targets),
    looking,
    services,
  );
  if (hidden.size === 0) return changes;
  const marked = (target: RequiredTarget): RequiredTarget =>
    hidden.has(nameOf(target)) ? { ...target, isHidden: true } : target;
  return changes.map((change) =>
    change.targets === undefined ? change : { ...change, targets: change.targets.map(marked) },
  );
}

/** Names of those that the token does not show. */
async function findHidden(
  targets: readonly RequiredTarget[],
  looking: Looking,
  services: VisibilityServices,
): Promise<ReadonlySet<string>> {
  const hidden = new Set<string>();
  const asked = new Map<string, RequiredTarget>();
  const known = new Map<string, boolean | undefined>();
  for (const target of targets) {
    if (!known.has(target.type)) known.set(target.type, isTypeHidden(target.type, looking));
    const isHidden = known.get(target.type);
    if (isHidden === true) hidden.add(nameOf(target));
    else if (isHidden === undefined) asked.set(nameOf(target), target);
  }
  const pace = yieldToEventLoop();
  const all = [...asked];
  for (let from = 0; from < all.length; from += AT_ONCE) {
    looking.signal?.throwIfAborted();
    const some = all.slice(from, from + AT_ONCE);
    const versions = await readAll(
      some.map(([, target]) => target),
      services,
    );
    for (const [i, [name]] of some.entries()) {
      await pace();
      const version = versions[i];
      // Of what is missing the store says so.
      if (version?.json !== undefined && !(await isShown(version, looking, services, PRESENCE))) hidden.add(name);
    }
  }
  return hidden;
}

/** Whether a token shows nothing of a type, or all; undefined: that depends on the resource. */
function isTypeHidden(type: string, { principal: { access } }: Looking): boolean | undefined {
  const reaches = PRESENCE.map((letter) => access.on(type, letter));
  if (reaches.every((reach) => reach === 'nothing')) return true;
  return reaches.some((reach) => reach === 'everything' && !isJudged(type, reach)) ? false : undefined;
}

/** Whether a target of a change is missing, or counts as missing. */
export async function leadsToNothing(change: Change, looking: Looking, services: VisibilityServices): Promise<boolean> {
  const [{ targets = [] } = change] = await hideTargets([change], looking, services);
  if (targets.some(({ isHidden }) => isHidden === true)) return true;
  for (let from = 0; from < targets.length; from += AT_ONCE) {
    const versions = await readAll(targets.slice(from, from + AT_ONCE), services);
    if (versions.some((version) => version?.json === undefined)) return true;
  }
  return false;
}

/** The versions that targets name, or the current ones. */
async function readAll(
  targets: readonly RequiredTarget[],
  { store }: VisibilityServices,
): Promise<readonly (StoredVersion | undefined)[]> {
  const current = await store.readMany(targets.filter(({ version }) => version === undefined));
  const past = await Promise.all(
    targets.flatMap(({ type, id, version }) => (version === undefined ? [] : [store.readVersion(type, id, version)])),
  );
  const [ofCurrent, ofPast] = [current.values(), past.values()];
  return targets.map(({ version }) => (version === undefined ? ofCurrent : ofPast).next().value);
}

function nameOf({ type, id, version }: RequiredTarget): string {
  return `${type}/${id}/${version ?? ''}`;
}
