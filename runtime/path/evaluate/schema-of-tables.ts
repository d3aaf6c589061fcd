import type { Tables } from '../../contract/tables.js';
import { indexRows } from '../expression/type-index.js';
import { createSchema, type Schema } from './schema.js';

/** The tables that a schema is made of. */
export type SchemaTables = Pick<Tables, 'types' | 'primitives'>;

/** What expressions know of the types of the tables. */
export function schemaOfTables(tables: SchemaTables): Schema {
  const rows = new Map(tables.types.map((row) => [row.name, row]));
  const elementsOf = (type: string): readonly string[] => {
    const row = rows.get(type);
    if (row === undefined) return [];
    const above = row.base === undefined ? [] : elementsOf(row.base);
    return [...above, ...row.elements.map(({ name }) => name)];
  };
  return createSchema(indexRows(tables.types, tables.primitives), elementsOf);
}
