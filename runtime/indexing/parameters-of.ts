import type { SearchRow, SearchTable } from '../contract/search.js';

/** A type's own parameters and those of its bases, by code: the nearer where two have one code. */
export function parametersOf(type: string, tables: ReadonlyMap<string, SearchTable>): ReadonlyMap<string, SearchRow> {
  const rows = new Map<string, SearchRow>();
  for (let table = tables.get(type); table; table = table.base === undefined ? undefined : tables.get(table.base)) {
    for (const row of table.parameters) if (!rows.has(row.code)) rows.set(row.code, row);
  }
  return rows;
}
