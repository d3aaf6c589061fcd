import { columnsOf } from './elements.js';
import type { ServiceTables } from '../core/services.js';
import type { SelectItem } from './statement.js';

/** A result that is known without a search. */
export interface StaticResult {
  readonly select: readonly SelectItem[];
  readonly rows: readonly (readonly string[])[];
}

type Column = readonly [name: string, type: 'STRING' | 'INTEGER'];

/** As `DatabaseMetaData.getTables` of JDBC has them. */
const TABLE_COLUMNS: readonly Column[] = [
  ['TABLE_CAT', 'STRING'],
  ['TABLE_SCHEM', 'STRING'],
  ['TABLE_NAME', 'STRING'],
  ['TABLE_TYPE', 'STRING'],
  ['REMARKS', 'STRING'],
  ['TYPE_CAT', 'STRING'],
  ['TYPE_SCHEM', 'STRING'],
  ['TYPE_NAME', 'STRING'],
  ['SELF_REFERENCING_COL_NAME', 'STRING'],
  ['REF_GENERATION', 'STRING'],
];

/** As `DatabaseMetaData.getColumns` of JDBC has them. */
const COLUMN_COLUMNS: readonly Column[] = [
  ['TABLE_CAT', 'STRING'],
  ['TABLE_SCHEM', 'STRING'],
  ['TABLE_NAME', 'STRING'],
  ['COLUMN_NAME', 'STRING'],
  ['DATA_TYPE', 'INTEGER'],
  ['TYPE_NAME', 'STRING'],
  ['COLUMN_SIZE', 'INTEGER'],
  ['BUFFER_LENGTH', 'INTEGER'],
  ['DECIMAL_DIGITS', 'INTEGER'],
  ['NUM_PREC_RADIX', 'INTEGER'],
  ['NULLABLE', 'INTEGER'],
  ['REMARKS', 'STRING'],
  ['COLUMN_DEF', 'STRING'],
  ['SQL_DATA_TYPE', 'INTEGER'],
  ['SQL_DATETIME_SUB', 'INTEGER'],
  ['CHAR_OCTET_LENGTH', 'INTEGER'],
  ['ORDINAL_POSITION', 'INTEGER'],
  ['IS_NULLABLE', 'STRING'],
  ['SCOPE_CATALOG', 'STRING'],
  ['SCOPE_SCHEMA', 'STRING'],
  ['SCOPE_TABLE', 'STRING'],
  ['SOURCE_DATA_TYPE', 'INTEGER'],
  ['IS_AUTOINCREMENT', 'STRING'],
  ['IS_GENERATEDCOLUMN', 'STRING'],
];

/** Values that all columns have: `VARCHAR`, of unknown size, nullable. */
const COMMON: Readonly<Record<string, string>> = {
  DATA_TYPE: '12',
  TYPE_NAME: 'string',
  COLUMN_SIZE: '-1',
  NULLABLE: '1',
  IS_NULLABLE: 'YES',
  IS_AUTOINCREMENT: 'NO',
  IS_GENERATEDCOLUMN: 'NO',
};

/** Exact names; absent: all. */
export interface IntrospectFilter {
  readonly table?: string;
  readonly column?: string;
}

/** The tables that statements can be about: one for each type. @param types those that the token covers */
export function introspectTables(types: readonly string[], { table }: IntrospectFilter): StaticResult {
  const rows = sorted(types, table).map((name) => filled(TABLE_COLUMNS, { TABLE_NAME: name, TABLE_TYPE: 'TABLE' }));
  return { select: selectOf(TABLE_COLUMNS), rows };
}

/** The columns of these tables: the elements of the first level. */
export function introspectColumns(
  types: readonly string[],
  { table, column }: IntrospectFilter,
  tables: ServiceTables,
): StaticResult {
  const rows = sorted(types, table).flatMap((type) =>
    columnsOf(type, tables.types).flatMap((name, i) =>
      column !== undefined && column !== name
        ? []
        : [filled(COLUMN_COLUMNS, { ...COMMON, TABLE_NAME: type, COLUMN_NAME: name, ORDINAL_POSITION: String(i + 1) })],
    ),
  );
  return { select: selectOf(COLUMN_COLUMNS), rows };
}

function sorted(types: readonly string[], only: string | undefined): readonly string[] {
  return [...types].filter((each) => only === undefined || only === each).sort();
}

function filled(columns: readonly Column[], values: Readonly<Record<string, string>>): readonly string[] {
  return columns.map(([name]) => values[name] ?? '');
}

function selectOf(columns: readonly Column[]): readonly SelectItem[] {
  return columns.map(([name, dataType]) => ({ clause: name, alias: name, operator: 'SELECT', dataType }));
}
