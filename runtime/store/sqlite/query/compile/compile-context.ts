import type { Condition, Leaf } from '../../../../search/query/query.js';
import type { LeafGroup } from './leaf.js';
import type { Sql, Value } from './sql.js';

/** Context in which conditions are compiled. */
export interface CompileContext {
  /** Number of the type whose resources conditions are about. */
  readonly type: number;
  /** Number of one of its parameters; undefined: nothing has a value. */
  param(code: string): number | undefined;
  groups(leaf: Leaf): readonly LeafGroup[];
  /** For conditions on resources of another type; undefined: there never was one. */
  of(type: string): CompileContext | undefined;
  /** A condition on the resource whose key is in this column. @param depth of links around it; absent: none */
  check(condition: Condition, key: Sql, depth?: number): Sql;
  /** Marks the rows that drive a statement: there it can be stopped. */
  go(column: Sql): Sql;
  /** Keeps a long list of values. @returns the table that it is in a statement */
  list(rows: readonly (readonly Value[])[]): Sql;
  /** Counts a row that is looked at; it is always true. */
  look(row: Sql, column: string): Sql;
}
