import { searchDefinitions } from '../../search/parse/definitions.js';
import type { UsedParameter } from '../../search/parse/used-by.js';
import type { Services } from '../services.js';

/** These two stand in the resource itself. */
const HEAD: ReadonlySet<string> = new Set(['_id', '_lastUpdated']);

/**
 * Names of the search rows that a search uses and whose index entries other definitions made: it may miss or add results. Of
 * stored parameters, which others may change at any time, it is looked up anew: asked after a search it holds for that search.
 *
 * @param used what its criteria go by (`usedBy`), its order and its includes
 */
export async function staleParameters(
  { used }: { readonly used: readonly UsedParameter[] },
  { indexStatus: currency, tables }: Pick<Services, 'indexStatus' | 'tables'>,
): Promise<string[]> {
  const rows = new Set(await currency.notCurrent(usesStored(used, tables) ? 'now' : undefined));
  if (rows.size === 0) return [];
  const { recordName } = searchDefinitions(tables);
  const names = used.filter(({ code }) => !HEAD.has(code)).map(({ type, code }) => recordName(type, code) ?? code);
  return [...new Set(names)].filter((name) => rows.has(name));
}

/** Whether some of them are defined in the store. */
export function usesStored(used: readonly UsedParameter[], tables: Services['tables']): boolean {
  const { rowsOf } = searchDefinitions(tables);
  return used.some(({ type, code }) => rowsOf(type).get(code)?.isStored === true);
}
