import { searchDefinitions } from '../search/query/definitions.js';
import type { SearchRequest } from './search-request.js';
import type { Services } from './services.js';

/** Names of the search rows that a search uses and whose index entries other definitions made: it may miss or add results. */
export async function namesNotCurrent(
  { type, used, criteria }: Pick<SearchRequest, 'type' | 'used' | 'criteria'>,
  { currency, tables }: Pick<Services, 'currency' | 'tables'>,
): Promise<string[]> {
  const rows = new Set(await currency?.notCurrent());
  if (rows.size === 0) return [];
  const definitions = searchDefinitions(tables);
  // These two stand in the resource itself.
  const codes = used.filter((code) => code !== '_id' && code !== '_lastUpdated');
  const own = codes.map((code) => definitions.recordName(type, code) ?? code);
  const hierarchies = criteria.flatMap((criterion) => ('hierarchies' in criterion ? criterion.hierarchies : []));
  const followed = hierarchies.map((each) => definitions.recordName(each.type, each.by) ?? each.by);
  return [...new Set([...own, ...followed])].filter((name) => rows.has(name));
}
