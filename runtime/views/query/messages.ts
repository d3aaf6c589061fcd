import type { ColumnKind } from '../column-kind.js';

/** A value of SQLite: text, number, a REAL that is whole, an integer that has its digits as text, or bytes in base64. */
export type SqlValue =
  null | string | number | { readonly real: number } | { readonly integer: string } | { readonly bytes: string };

/** A row of values of SQLite. */
export type SqlRow = readonly SqlValue[];

/** A table that a statement sees: the rows of a view, or those of another statement. */
export interface SqlTable {
  readonly label: string;
  /** Place of the view in the list of views. */
  readonly view?: number;
  readonly query?: SqlQuery;
}

/** A statement with its tables. */
export interface SqlQuery {
  readonly sql: string;
  /** Values of its parameters, by name. */
  readonly values: Readonly<Record<string, SqlValue>>;
  readonly tables: readonly SqlTable[];
}

/** Column of the table of a view. */
export interface SqlColumn {
  readonly name: string;
  readonly type: string;
  readonly kind: ColumnKind;
  readonly isCollection: boolean;
}

/** Column of a result. */
export interface ResultColumn {
  readonly name: string;
  /** The column of a view that it passes through: places of the view and of the column. Absent: it is computed. */
  readonly origin?: readonly [view: number, column: number];
}

/** Limits of one query: rows of a table, and pages of 4 kB of the database of a statement. */
export interface TableLimits {
  readonly rows: number;
  readonly pages: number;
}

/** Messages of the server: first the query with the columns of its views, then one answer to each message of the process. */
export type ToProcess =
  | {
      readonly query: SqlQuery;
      readonly views: readonly (readonly SqlColumn[])[];
      /** Other limits than the usual ones. */
      readonly limits?: TableLimits;
    }
  /** Rows of the view that is wanted; none: there are no more. */
  | { readonly rows: readonly SqlRow[] }
  | { readonly next: true };

/** Messages of the process, which waits for an answer to each but the last. */
export type FromProcess =
  /** The statements are right; what columns the result has. */
  | { readonly columns: readonly ResultColumn[] }
  /** Rows of this view are wanted. */
  | { readonly view: number }
  /** Rows of the result; none: there are no more. */
  | { readonly rows: readonly SqlRow[] }
  | { readonly failure: string; readonly isCostly: boolean };
