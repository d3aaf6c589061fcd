import { searchAccess } from '../auth/access/search-access.js';
import type { Access } from '../auth/scopes/access.js';
import { OPEN_ACCESS } from '../auth/scopes/principal.js';
import { commonReach, eitherReach, type Reach } from '../auth/scopes/reach.js';
import { CONTEXT } from '../indexing/context-entries.js';
import type { FindQuery } from '../store/store.js';
import { checkConstraintIndexes, recordConstraints } from '../core/access/constraint-index-status.js';
import type { Services } from '../core/services.js';
import { withinConstraints } from './authorize/constrain-search.js';

/** Binaries with a context that criteria find, at most: no write is about more resources. */
const MOST_FOUND = 1001;

/**
 * Extends the reach of a token for criteria on Binaries. The `securityContext` of a Binary leads to another resource, whose
 * changes no precondition of a write covers. So the Binaries whose context the token may read are found first, and the reach
 * names them by their ids.
 *
 * @param reach of the token, with Binaries without a context alone
 * @throws FhirError `index-not-current` where the index could show what a constraint excludes
 */
export async function withReadableBinaries(
  reach: Reach,
  { type, where }: Pick<FindQuery, 'type' | 'where'>,
  { access, signal }: { readonly access: Access; readonly signal: AbortSignal | undefined },
  services: Pick<Services, 'store' | 'tables' | 'indexStatus'>,
): Promise<Reach> {
  if (type !== CONTEXT.type || access === OPEN_ACCESS || reach === 'nothing') return reach;
  const { store, tables } = services;
  const readable = recordConstraints(searchAccess(access, tables.resourceTypes));
  const find = withinConstraints(readable, (query, within) => store.find(query, within));
  const isWith = { param: CONTEXT.param, present: 'token' } as const;
  const query = { type, where: { all: [where, isWith] }, sort: [], count: MOST_FOUND, total: 'none' } as const;
  const { versions } = await find(query, signal);
  await checkConstraintIndexes(readable.constraints, services);
  if (versions.length === 0) return reach;
  const ids = versions.map(({ id }) => id);
  return eitherReach([reach, commonReach([access.on(type, 's'), { ids }])]);
}
