import { OPEN_ACCESS } from '../../auth/scopes/principal.js';
import { withinReach, type Reach } from '../../auth/scopes/reach.js';
import { CONTAINED } from '../../indexing/contained.js';
import { REFERENCES } from '../../indexing/other-references.js';
import type { Condition } from '../../search/query/query.js';
import type { ResourceKey } from '../../store/store.js';
import type { Call } from '../call.js';
import type { Services } from '../services.js';

type Asking = Pick<Call, 'principal' | 'signal'>;
type IndexServices = Pick<Services, 'store' | 'indexStatus'>;

/**
 * Whether the index tells that the current resource of this id lies outside a token's constraint. Asked before the resource is
 * looked up, so that one that is hidden is denied as fast as one that never was, however much it holds: its content is not read,
 * and who gets `true` looks up an id that never was in its place. `false`: it lies within, is deleted or never was, or there is
 * no constraint, or an index that other definitions made, so that the content has to tell.
 *
 * @param letters by which it would be seen
 */
export async function isHiddenByIndex(
  key: ResourceKey,
  letters: string,
  asking: Asking,
  services: IndexServices,
): Promise<boolean> {
  const bound = await boundByIndex(key.type, letters, asking, services);
  if (bound === undefined) return false;
  const [isWithin, isThere] = await Promise.all([
    isFound(key, bound, asking, services),
    isFound(key, 'everything', asking, services),
  ]);
  return isThere && !isWithin;
}

/**
 * Whether all versions of a resource are hidden by the index. This is the case only if the current version is hidden and is the
 * only one: each earlier version is visible or hidden by its own content, and the index has entries of the current version
 * alone.
 */
export async function isWhollyHiddenByIndex(
  key: ResourceKey,
  letters: string,
  asking: Asking,
  services: IndexServices,
): Promise<boolean> {
  if ((await boundByIndex(key.type, letters, asking, services)) === undefined) return false;
  const isHidden = await isHiddenByIndex(key, letters, asking, services);
  // Asked for what is not hidden too, so that it takes as long, and afterwards: one that is the only one now was so then.
  const { total } = await services.store.history({ ...key, count: 0 }, asking.signal);
  return isHidden && total === 1;
}

/** Entries that say nothing of what constraints ask: those of contained resources, and of references beside the parameters. */
const BESIDE: ReadonlySet<string> = new Set([CONTAINED, REFERENCES]);

/** Whether the entries of the index are those of today's definitions, so that it may tell who sees what. */
export async function isIndexCurrent({ indexStatus: currency }: Pick<Services, 'indexStatus'>): Promise<boolean> {
  return (await currency.notCurrent()).every((name) => BESIDE.has(name));
}

/** Whether the index tells that there is a current resource of this id, and that it lies within reach. */
export async function isFound(
  { type, id }: ResourceKey,
  reach: Reach,
  { signal }: Pick<Asking, 'signal'>,
  { store }: Pick<Services, 'store'>,
): Promise<boolean> {
  const where = withinReach({ ids: [id] }, reach);
  const { total = 0 } = await store.find({ type, where, sort: [], count: 0, total: 'accurate' }, signal);
  return total > 0;
}

/** The condition by which the index judges resources of a type; undefined: it does not, or nothing is to be judged. */
async function boundByIndex(
  type: string,
  letters: string,
  { principal: { access } }: Asking,
  services: Pick<Services, 'indexStatus'>,
): Promise<Condition | undefined> {
  if (access === OPEN_ACCESS) return undefined;
  const reach = access.on(type, letters);
  return typeof reach === 'string' || !(await isIndexCurrent(services)) ? undefined : reach;
}
