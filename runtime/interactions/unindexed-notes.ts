import type { Access } from '../auth/scopes/access.js';
import { withinReach } from '../auth/scopes/reach.js';
import type { Note } from '../fhir/note.js';
import { searchDefinitions } from '../search/query/definitions.js';
import type { UsedParameter } from '../search/query/used-by.js';
import { UNINDEXED } from '../search/unindexed.js';
import type { Services } from './services.js';

/**
 * What is to be known of the parameters that a search uses and whose expressions failed on some resources, or cost too much there:
 * these are stored and not found by them. Of what a token does not show nothing is told.
 */
export async function unindexedNotes(
  { used }: { readonly used: readonly UsedParameter[] },
  access: Access,
  { store, tables }: Pick<Services, 'store' | 'tables'>,
  signal?: AbortSignal,
): Promise<Note[]> {
  const { rowsOf } = searchDefinitions(tables);
  const names: string[] = [];
  for (const { type, code } of used) {
    const row = rowsOf(type).get(code);
    if (row?.isStored !== true) continue;
    const reach = access.on(type, 's');
    if (reach === 'nothing') continue;
    const where = withinReach({ param: UNINDEXED, any: [{ is: 'token', code }] }, reach);
    const { versions } = await store.find({ type, where, sort: [], count: 1, total: 'none' }, signal);
    if (versions.length > 0) names.push(`${type}.${code}`);
  }
  if (names.length === 0) return [];
  const text =
    `The expression of ${names.join(', ')} failed on some resources, or took too long or found too much there: ` +
    'they are stored, and searches by it may miss them';
  return [{ severity: 'warning', issue: 'incomplete', code: 'index-not-current', text }];
}
