import { OPEN_ACCESS } from '../auth/scopes/principal.js';
import { withinReach } from '../auth/scopes/reach.js';
import type { FindQuery } from '../store/store.js';
import type { Call } from './call.js';
import type { Services } from './services.js';

/**
 * Whether the index tells that there is no current resource of this id within a token's constraint. Asked before the resource is
 * looked up, so that one that is hidden is denied about as fast as one that never was, however much it holds. `false`: there is one,
 * no constraint, or an index that other definitions made, so that the content has to tell.
 *
 * @param letters by which it would be seen
 */
export async function isOutsideByIndex(
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
  const query: FindQuery = { type, where: withinReach({ ids: [id] }, reach), sort: [], count: 1, total: 'none' };
  return (await store.find(query, signal)).versions.length === 0;
}
