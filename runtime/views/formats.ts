import type { JsonObject, JsonValue } from '../fhir/resource.js';
import { writeJson } from '../format/write-json.js';
import { isNumber } from '../path/evaluate/item.js';
import type { Column, ColumnKind } from './column-kind.js';
import type { CompiledView, ViewRow } from './compile-view.js';
import { formOf } from './parquet-forms.js';
import { RowError } from './view-error.js';

/** Forms that tables are written in. */
export const TABLE_FORMATS = ['ndjson', 'json', 'csv', 'parquet', 'fhir'] as const;

/** Form that a table is written in. */
export type TableFormat = (typeof TABLE_FORMATS)[number];

/** The media type of each form; of `fhir` it is that of the resource. */
export const TABLE_TYPES: Readonly<Record<Exclude<TableFormat, 'fhir'>, string>> = {
  ndjson: 'application/x-ndjson',
  json: 'application/json',
  csv: 'text/csv; charset=utf-8',
  parquet: 'application/vnd.apache.parquet',
};

/** Forms that are texts, with a line for each row. */
type TextFormat = Exclude<TableFormat, 'fhir' | 'parquet'>;

/** Returns the line of a row, without its newline. */
export function lineOf(row: ViewRow, columns: readonly Column[], format: TextFormat): string {
  return format === 'csv' ? row.map(csvField).join(',') : objectText(row, columns);
}

/**
 * Writes a table piece by piece.
 *
 * @param batches its rows, some at a time
 * @param hasHeader csv begins with the names of the columns
 */
export async function* writeTable(
  { columns }: Pick<CompiledView, 'columns'>,
  batches: AsyncIterable<readonly ViewRow[]>,
  format: Exclude<TableFormat, 'fhir'>,
  hasHeader: boolean,
): AsyncGenerator<string | Uint8Array> {
  if (format === 'parquet') {
    const { writeParquet } = await import('./parquet.js');
    yield* writeParquet(columns, batches);
    return;
  }
  yield* joinLines(columns, linesOf(columns, batches, format), format, hasHeader);
}

async function* linesOf(
  columns: readonly Column[],
  batches: AsyncIterable<readonly ViewRow[]>,
  format: TextFormat,
): AsyncGenerator<readonly string[]> {
  for await (const rows of batches) yield rows.map((row) => lineOf(row, columns, format));
}

/**
 * Makes a table of the lines of its rows.
 *
 * @param batches the lines, as `lineOf` makes them, some at a time
 * @param hasHeader csv begins with the names of the columns
 */
export async function* joinLines(
  columns: readonly Column[],
  batches: AsyncIterable<readonly string[]>,
  format: TextFormat,
  hasHeader: boolean,
): AsyncGenerator<string> {
  if (format === 'csv' && hasHeader) yield `${columns.map(({ name }) => quoted(name)).join(',')}\n`;
  let before = '[';
  for await (const lines of batches) {
    if (lines.length === 0) continue;
    if (format !== 'json') yield `${lines.join('\n')}\n`;
    else {
      yield before + lines.join(',\n');
      before = ',\n';
    }
  }
  if (format === 'json') yield before === '[' ? '[]' : ']';
}

/** Names of the members of a row in JSON, with their colons. */
const keys = new WeakMap<readonly Column[], readonly string[]>();

function objectText(row: ViewRow, columns: readonly Column[]): string {
  let names = keys.get(columns);
  if (names === undefined) keys.set(columns, (names = columns.map(({ name }) => `${JSON.stringify(name)}:`)));
  let text = '{';
  for (let i = 0; i < row.length; i++) {
    const cell = row[i] ?? null;
    text +=
      (i === 0 ? '' : ',') + (names[i] ?? '') + (typeof cell === 'object' ? writeJson(cell) : JSON.stringify(cell));
  }
  return `${text}}`;
}

/** Null is an empty field, the empty text a quoted one. https://www.rfc-editor.org/rfc/rfc4180 */
function csvField(cell: JsonValue): string {
  if (cell === null) return '';
  if (typeof cell !== 'string') return typeof cell === 'object' ? quoted(writeJson(cell)) : String(cell);
  return cell === '' ? '""' : quoted(cell);
}

function quoted(text: string): string {
  return /[",\r\n]/.test(text) ? `"${text.replaceAll('"', '""')}"` : text;
}

/**
 * A row as a parameter `row` with a part for each cell that has a value.
 *
 * @throws RowError where a cell has no value of a FHIR type
 */
export function rowParameter(row: ViewRow, columns: readonly Column[]): JsonObject {
  const part = columns.flatMap((column, i): JsonObject[] => {
    const { name, type, kind, isCollection } = column;
    const cell = row[i] ?? null;
    if (kind === 'object') throw new RowError(`the column ${name} is complex, which this format does not hold`);
    if (type === '') throw new RowError(`the column ${name} is computed and has no FHIR type, which this format needs; ask for another one`); // prettier-ignore
    const values = isCollection ? (cell as JsonValue[]) : cell === null ? [] : [cell];
    return values.map((value) => ({ name, ...valueOf(value, column) }));
  });
  return { name: 'row', ...(part.length > 0 && { part }) };
}

/** The `value[x]` of a cell: of the type in SQL that its column asks for, else of the type of the column. */
function valueOf(cell: JsonValue, column: Column): JsonObject {
  const { type, kind, sqlType, isOpen } = column;
  const own = isOpen ? typeOf(cell) : (KIND_TYPES[kind] ?? (PARAMETER_TYPES.has(type) ? type : 'string'));
  const name = sqlType === undefined ? own : formOf(column).fhir;
  return { [`value${name.charAt(0).toUpperCase()}${name.slice(1)}`]: asType(cell, name) };
}

/** A cell as JSON has it in a `value[x]`. */
function asType(cell: JsonValue, type: string): JsonValue {
  if (type === 'integer' || (type === 'decimal' && typeof cell === 'string')) return Number(cell);
  return type === 'integer64' || type === 'string' ? String(cell as string) : cell;
}

/** The type of a cell whose column has none. */
function typeOf(cell: JsonValue): string {
  if (typeof cell === 'boolean') return 'boolean';
  if (!isNumber(cell)) return 'string';
  return typeof cell === 'number' && cell === (cell | 0) ? 'integer' : 'decimal';
}

/** The type of the `value[x]` of kinds that have one. */
const KIND_TYPES: Readonly<Partial<Record<ColumnKind, string>>> = {
  ...{ boolean: 'boolean', integer: 'integer', integer64: 'integer64', decimal: 'decimal' },
  ...{ instant: 'instant', binary: 'base64Binary' },
};

/** Types of texts that have a `value[x]` of their own in Parameters. */
const PARAMETER_TYPES: ReadonlySet<string> = new Set(
  'canonical code date dateTime id markdown oid string time uri url uuid'.split(' '),
);
