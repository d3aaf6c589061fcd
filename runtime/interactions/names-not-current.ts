import { searchDefinitions } from '../search/query/definitions.js';
import type { UsedParameter } from '../search/query/used-by.js';
import type { Services } from './services.js';

/** These two stand in the resource itself. */
const HEAD: ReadonlySet<string> = new Set(['_id', '_lastUpdated']);

/**
 * Names of the search rows that a search uses and whose index entries other definitions made: it may miss or add results. Of
 * stored parameters, which others may change at any time, it is looked up anew: asked after a search it holds for that search.
 *
 * @param used what its criteria go by (`usedBy`), its order and its includes
 */
export async function namesNotCurrent(
  { used }: { readonly used: readonly UsedParameter[] },
  { currency, tables }: Pick<Services, 'currency' | 'tables'>,
): Promise<string[]> {
  const { recordName, rowsOf } = searchDefinitions(tables);
  const isChanging = used.some(({ type, code }) => rowsOf(type).get(code)?.isStored === true);
  const rows = new Set(await currency?.notCurrent(isChanging ? 'now' : undefined));
  if (rows.size === 0) return [];
  const names = used.filter(({ code }) => !HEAD.has(code)).map(({ type, code }) => recordName(type, code) ?? code);
  return [...new Set(names)].filter((name) => rows.has(name));
}
