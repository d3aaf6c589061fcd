import { OPEN_ACCESS } from '../auth/scopes/principal.js';
import { withinReach } from '../auth/scopes/reach.js';
import { newId } from '../fhir/id.js';
import type { Condition } from '../search/query/query.js';
import type { Call } from './call.js';
import type { Services } from './services.js';

/**
 * Whether the index tells that the current resource of this id lies outside a token's constraint. Asked before the resource is
 * looked up, so that one that is hidden is denied as fast as one that never was, however much it holds: neither is its content
 * read. `false`: it lies within, is deleted or never was, or there is no constraint, or an index that other definitions made, so
 * that the content has to tell.
 *
 * @param letters by which it would be seen
 */
export async function isHiddenByIndex(
  type: string,
  id: string,
  letters: string,
  { principal, signal }: Pick<Call, 'principal' | 'signal'>,
  { store, currency }: Pick<Services, 'store' | 'currency'>,
): Promise<boolean> {
  const { access } = principal;
  if (access === OPEN_ACCESS) return false;
  const reach = access.on(type, letters);
  if (typeof reach === 'string') return false;
  if (((await currency?.notCurrent()) ?? []).length > 0) return false;
  const isFound = async (where: Condition): Promise<boolean> => {
    const { total = 0 } = await store.find({ type, where, sort: [], count: 0, total: 'accurate' }, signal);
    return total > 0;
  };
  const named = { ids: [id] };
  const [isWithin, isThere] = await Promise.all([isFound(withinReach(named, reach)), isFound(named)]);
  if (isWithin || !isThere) return false;
  // Who asks for what never was waits for one more look.
  await store.read(type, newId());
  return true;
}
