import { ByteWriter, ParquetWriter, type SchemaElement } from 'hyparquet-writer';

import type { JsonValue } from '../fhir/resource.js';
import { isObject } from '../fhir/resource.js';
import type { Column, ColumnKind } from './column-kind.js';
import type { ViewRow } from './compile-view.js';
import { RowError } from './view-error.js';

/** Rows of one group of a file. */
const GROUP = 10_000;

type Physical = Pick<SchemaElement, 'type' | 'converted_type' | 'logical_type' | 'precision' | 'scale'>;

/** How the values of a column are written. */
interface Form {
  readonly physical: Physical;
  /** Undefined: the form does not hold the value. */
  readonly convert: (cell: JsonValue) => unknown;
}

const TEXT: Form = {
  physical: { type: 'BYTE_ARRAY', converted_type: 'UTF8', logical_type: { type: 'STRING' } },
  convert: (cell) => (isObject(cell) || Array.isArray(cell) ? undefined : String(cell)),
};
const BIGINT: Form = { physical: { type: 'INT64' }, convert: toBigInt };
const INT: Form = { physical: { type: 'INT32' }, convert: toInt };
const BOOLEAN: Form = {
  physical: { type: 'BOOLEAN' },
  convert: (cell) => (typeof cell === 'boolean' ? cell : undefined),
};

/** By the kind of a column. Decimals keep their digits as texts. */
const FORMS: Readonly<Record<Exclude<ColumnKind, 'object'>, Form>> = {
  ...{ boolean: BOOLEAN, integer: INT, integer64: BIGINT, decimal: TEXT, text: TEXT, instant: timestamp(true) },
  binary: {
    physical: { type: 'BYTE_ARRAY' },
    convert: (cell) => (typeof cell === 'string' ? new Uint8Array(Buffer.from(cell, 'base64')) : undefined),
  },
};

/**
 * Writes a table as a file of Apache Parquet, a group of rows at a time. https://parquet.apache.org/docs/file-format/
 *
 * @throws RowError where a column is complex, or its SQL type does not hold a value
 */
export async function* writeParquet(
  columns: readonly Column[],
  batches: AsyncIterable<readonly ViewRow[]>,
): AsyncGenerator<Uint8Array> {
  const forms = columns.map(formOf);
  const schema = columns.flatMap((column, i) => elementsOf(column, (forms[i] ?? TEXT).physical));
  const bytes = new ByteWriter();
  const root = { name: 'table', num_children: columns.length };
  const writer = new ParquetWriter({ writer: bytes, schema: [root, ...schema], createdBy: 'kiln' });
  const take = (): Uint8Array => {
    const written = bytes.getBytes().slice();
    bytes.index = 0;
    return written;
  };
  let data: unknown[][] = columns.map(() => []);
  const writeGroup = (): Uint8Array => {
    const columnData = columns.map(({ name }, i) => ({ name, data: data[i] ?? [] }));
    void writer.write({ columnData, rowGroupSize: GROUP });
    data = columns.map(() => []);
    return take();
  };
  for await (const rows of batches) {
    for (const row of rows) {
      for (const [i, column] of columns.entries()) data[i]?.push(valueOf(row[i] ?? null, column, forms[i] ?? TEXT));
      if (data[0]?.length === GROUP) yield writeGroup();
    }
  }
  if ((data[0]?.length ?? 0) > 0) yield writeGroup();
  void writer.finish();
  yield take();
}

function valueOf(cell: JsonValue, { name, isCollection }: Column, { convert }: Form): unknown {
  if (cell === null) return null;
  const converted = (value: JsonValue): unknown => {
    const made = convert(value);
    if (made === undefined) throw new RowError(`the column ${name} has a value that its type in SQL does not hold`);
    return made;
  };
  return isCollection && Array.isArray(cell) ? cell.map(converted) : converted(cell);
}

function elementsOf({ name, isCollection }: Column, physical: Physical): SchemaElement[] {
  if (!isCollection) return [{ name, repetition_type: 'OPTIONAL', ...physical }];
  return [
    { name, repetition_type: 'OPTIONAL', num_children: 1, converted_type: 'LIST', logical_type: { type: 'LIST' } },
    { name: 'list', repetition_type: 'REPEATED', num_children: 1 },
    { name: 'element', repetition_type: 'OPTIONAL', ...physical },
  ];
}

function formOf({ name, kind, sqlType }: Column): Form {
  if (kind === 'object') throw new RowError(`the column ${name} is complex, which this format does not hold`);
  return (sqlType === undefined ? undefined : sqlForm(sqlType)) ?? FORMS[kind];
}

/** The form of a type in SQL; undefined: it is none that is known. */
function sqlForm(sqlType: string): Form | undefined {
  if (/^BOOL(?:EAN)?$/.test(sqlType)) return BOOLEAN;
  if (/^(?:INT|INTEGER|SMALLINT|TINYINT)$/.test(sqlType)) return INT;
  if (sqlType === 'BIGINT') return BIGINT;
  if (/^(?:DOUBLE PRECISION|DOUBLE|REAL|FLOAT)$/.test(sqlType)) {
    return { physical: { type: 'DOUBLE' }, convert: (cell) => toFinite(cell) };
  }
  if (/^(?:CHARACTER VARYING|VARCHAR|CHAR|CHARACTER|TEXT)(?:\s*\(\d+\))?$/.test(sqlType)) return TEXT;
  if (sqlType === 'DATE') return DATE;
  if (/^TIME(?:\s*\(\d\))?$/.test(sqlType)) return CLOCK;
  const timed = /^TIMESTAMP(?:\s*\(\d\))?( WITH TIME ZONE)?$/.exec(sqlType);
  if (timed !== null) return timestamp(timed[1] !== undefined);
  const [, precision, scale = '0'] =
    /^(?:DECIMAL|NUMERIC)\s*\(\s*(\d{1,2})\s*(?:,\s*(\d{1,2})\s*)?\)$/.exec(sqlType) ?? [];
  return precision === undefined || Number(precision) > 18 ? undefined : decimal(Number(precision), Number(scale));
}

const DATE: Form = {
  physical: { type: 'INT32', converted_type: 'DATE', logical_type: { type: 'DATE' } },
  convert: (cell) =>
    typeof cell === 'string' && /^\d{4}-\d\d-\d\d$/.test(cell) ? Date.parse(cell) / 86_400_000 : undefined,
};

const CLOCK: Form = {
  physical: {
    ...{ type: 'INT64', converted_type: 'TIME_MICROS' },
    logical_type: { type: 'TIME', isAdjustedToUTC: false, unit: 'MICROS' },
  },
  convert: (cell) =>
    typeof cell === 'string' && /^\d\d:\d\d:\d\d/.test(cell) ? microseconds(`1970-01-01T${cell}Z`) : undefined,
};

/** Points in time in microseconds. @param isInUtc they are; otherwise the clock of the place counts, without its zone */
function timestamp(isInUtc: boolean): Form {
  return {
    physical: { type: 'INT64', logical_type: { type: 'TIMESTAMP', isAdjustedToUTC: isInUtc, unit: 'MICROS' } },
    convert: (cell) => {
      if (typeof cell !== 'string') return undefined;
      const [, local, zone] = /^(\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(?:\.\d+)?)(Z|[+-]\d\d:\d\d)$/.exec(cell) ?? [];
      return local === undefined ? undefined : microseconds(local + (isInUtc ? zone : 'Z'));
    },
  };
}

/** Microseconds since the epoch; undefined: the text is no time, or has more digits than that. A leap second is the one after it. */
function microseconds(text: string): bigint | undefined {
  const [, whole = '', fraction = '', zone = ''] = /^(.*T[\d:]+)(?:\.(\d+))?(Z|[+-].*)$/.exec(text) ?? [];
  if (/[1-9]/.test(fraction.slice(6))) return undefined;
  const isLeap = whole.endsWith(':60');
  const start = Date.parse(`${isLeap ? whole.replace(/60$/, '59') : whole}${zone}`) + (isLeap ? 1000 : 0);
  return Number.isNaN(start) ? undefined : BigInt(start) * 1000n + BigInt(fraction.slice(0, 6).padEnd(6, '0'));
}

function decimal(precision: number, scale: number): Form {
  return {
    physical: {
      type: 'INT64',
      converted_type: 'DECIMAL',
      logical_type: { type: 'DECIMAL', precision, scale },
      precision,
      scale,
    },
    convert: (cell) => {
      const [, sign = '', whole, fraction = ''] = /^(-?)(\d+)(?:\.(\d+))?$/.exec(String(cell)) ?? [];
      if (whole === undefined || /[1-9]/.test(fraction.slice(scale))) return undefined;
      const digits = whole + fraction.slice(0, scale).padEnd(scale, '0');
      return digits.replace(/^0+/, '').length > precision ? undefined : BigInt(sign + digits);
    },
  };
}

function toFinite(cell: JsonValue): number | undefined {
  const number = typeof cell === 'boolean' || cell === '' ? NaN : Number(cell);
  return Number.isFinite(number) ? number : undefined;
}

function toInt(cell: JsonValue): number | undefined {
  const number = toFinite(cell);
  return number !== undefined && number === (number | 0) ? number : undefined;
}

function toBigInt(cell: JsonValue): bigint | undefined {
  const text = String(cell);
  if (typeof cell === 'boolean' || !/^-?\d{1,19}$/.test(text)) return undefined;
  const value = BigInt(text);
  return BigInt.asIntN(64, value) === value ? value : undefined;
}
