import { searchAccess } from '../../auth/access/search-access.js';
import type { Access } from '../../auth/scopes/access.js';
import type { Target } from '../../search/query/query.js';
import { checkConstraintIndexes, recordConstraints } from './constraint-index-status.js';
import type { Services } from '../services.js';

/**
 * Which of some questions, each with conditions of which something has to fulfil one, are answered by what a token shows. Nothing
 * else is looked at, so that of it nothing is disclosed.
 *
 * @param ask the questions, by what the token shows
 * @throws FhirError `index-not-current` where the index does not tell what that is
 */
export async function anyVisible<T extends { readonly parts: readonly Target[] }>(
  ask: (seen: Access) => readonly T[],
  access: Access,
  services: Pick<Services, 'store' | 'tables' | 'indexStatus'>,
  signal?: AbortSignal,
): Promise<readonly T[]> {
  const { store, tables } = services;
  const seen = recordConstraints(searchAccess(access, tables.resourceTypes));
  const questions = ask(seen);
  await checkConstraintIndexes(seen.constraints, services);
  const answered: T[] = [];
  for (const question of questions) {
    const { parts } = question;
    if (parts.length === 0) continue;
    const { versions } = await store.findMultiType({ parts, sort: [], count: 1, total: 'none' }, signal);
    if (versions.length > 0) answered.push(question);
  }
  return answered;
}
