import { raw, sql, type Sql } from '../compile/sql.js';

/**
 * A reference, in a row, is one to this server where it names a type and an id: it has no base, or the server's own.
 *
 * @param own number of that; undefined: no reference has it
 */
export function isLocalReference(row: Sql, own: number | undefined): Sql {
  const base = raw(`${row.text}.base`);
  return own === undefined ? sql`${base} = 0` : sql`${base} IN (0, ${own})`;
}
