import type { SchemaElement } from 'hyparquet-writer';

import { isObject, type JsonValue } from '../fhir/resource.js';
import { isDate, isInstant, isTime } from '../validate/date-text.js';
import type { Column, ColumnKind } from './column-kind.js';
import { secondOf } from './second-of.js';
import { RowError } from './view-error.js';

/** A type of Parquet. */
export type Physical = Pick<SchemaElement, 'type' | 'converted_type' | 'logical_type' | 'precision' | 'scale'>;

/** How the values of a column are written in Parquet. */
export interface Form {
  readonly physical: Physical;
  /** The type of FHIR that has the values of such a column. */
  readonly fhir: string;
  /** Undefined: the form does not hold the value. */
  readonly convert: (cell: JsonValue) => unknown;
}

/** Texts, and all else that is neither list nor object as one. */
export const TEXT: Form = {
  fhir: 'string',
  physical: { type: 'BYTE_ARRAY', converted_type: 'UTF8', logical_type: { type: 'STRING' } },
  convert: (cell) => (isObject(cell) || Array.isArray(cell) ? undefined : String(cell)),
};
const BIGINT: Form = { fhir: 'integer64', physical: { type: 'INT64' }, convert: toBigInt };
const INT: Form = { fhir: 'integer', physical: { type: 'INT32' }, convert: toInt };
const BOOLEAN: Form = {
  fhir: 'boolean',
  physical: { type: 'BOOLEAN' },
  convert: (cell) => (typeof cell === 'boolean' ? cell : undefined),
};

/** By the kind of a column. Decimals keep their digits as texts. */
const FORMS: Readonly<Record<Exclude<ColumnKind, 'object'>, Form>> = {
  ...{ boolean: BOOLEAN, integer: INT, integer64: BIGINT, decimal: TEXT, text: TEXT, instant: timestamp(true) },
  binary: {
    fhir: 'base64Binary',
    physical: { type: 'BYTE_ARRAY' },
    convert: (cell) => (typeof cell === 'string' ? new Uint8Array(Buffer.from(cell, 'base64')) : undefined),
  },
};

/** The form of a column. @throws RowError where it has none: it is complex, or has a type in SQL that is not understood */
export function formOf({ name, kind, sqlType }: Pick<Column, 'name' | 'kind' | 'sqlType'>): Form {
  if (kind === 'object') throw new RowError(`the column ${name} is complex, which this format does not hold`);
  const form = sqlType === undefined ? FORMS[kind] : sqlForm(sqlType);
  if (form === undefined) throw new RowError(`the column ${name} has a tag ansi/type that ${NOT_UNDERSTOOD}`);
  return form;
}

/** Types that a tag `ansi/type` may name, as the end of a message. */
export const NOT_UNDERSTOOD =
  'is not understood; BOOLEAN, SMALLINT, INTEGER, BIGINT, DOUBLE PRECISION, REAL, CHARACTER VARYING, DATE, TIME, TIMESTAMP, TIMESTAMP WITH TIME ZONE and DECIMAL(p,s) with 1 to 18 digits are';

/** Names the type that a column has in SQL, or in Parquet. */
export function describeForm(column: Column): string {
  const { sqlType } = column;
  return sqlType === undefined
    ? `its type in Parquet, ${formOf(column).physical.type},`
    : `its type in SQL, ${sqlType},`;
}

/** The form of a type in SQL; undefined: it is none that is known. */
export function sqlForm(sqlType: string): Form | undefined {
  if (/^BOOL(?:EAN)?$/.test(sqlType)) return BOOLEAN;
  if (/^(?:INT|INTEGER|SMALLINT|TINYINT)$/.test(sqlType)) return INT;
  if (sqlType === 'BIGINT') return BIGINT;
  if (/^(?:DOUBLE PRECISION|DOUBLE|REAL|FLOAT)$/.test(sqlType)) {
    return { fhir: 'decimal', physical: { type: 'DOUBLE' }, convert: (cell) => toFinite(cell) };
  }
  if (/^(?:CHARACTER VARYING|VARCHAR|CHAR|CHARACTER|TEXT)(?:\s*\(\d+\))?$/.test(sqlType)) return TEXT;
  if (sqlType === 'DATE') return DATE;
  if (/^TIME(?:\s*\(\d\))?$/.test(sqlType)) return CLOCK;
  const timed = /^TIMESTAMP(?:\s*\(\d\))?(?: WITHOUT TIME ZONE|( WITH TIME ZONE))?$/.exec(sqlType);
  if (timed !== null) return timestamp(timed[1] !== undefined);
  const [, precision, scale = '0'] =
    /^(?:DECIMAL|NUMERIC)\s*\(\s*(\d{1,2})\s*(?:,\s*(\d{1,2})\s*)?\)$/.exec(sqlType) ?? [];
  const [digits, places] = [Number(precision ?? 0), Number(scale)];
  return digits < 1 || digits > 18 || places > digits ? undefined : decimal(digits, places);
}

const DATE: Form = {
  fhir: 'date',
  physical: { type: 'INT32', converted_type: 'DATE', logical_type: { type: 'DATE' } },
  convert: (cell) =>
    typeof cell === 'string' && cell.length === 10 && isDate(cell) ? Date.parse(cell) / 86_400_000 : undefined,
};

const CLOCK: Form = {
  fhir: 'time',
  physical: {
    ...{ type: 'INT64', converted_type: 'TIME_MICROS' },
    logical_type: { type: 'TIME', isAdjustedToUTC: false, unit: 'MICROS' },
  },
  convert: (cell) => (typeof cell === 'string' && isTime(cell) ? microseconds(`1970-01-01T${cell}Z`) : undefined),
};

/** Points in time in microseconds, in UTC. @param isZoned the type says so; otherwise it has the clock of UTC, without a zone */
function timestamp(isZoned: boolean): Form {
  return {
    fhir: isZoned ? 'instant' : 'dateTime',
    physical: { type: 'INT64', logical_type: { type: 'TIMESTAMP', isAdjustedToUTC: isZoned, unit: 'MICROS' } },
    convert: (cell) => (typeof cell === 'string' && isInstant(cell) ? microseconds(cell) : undefined),
  };
}

/** Microseconds since the epoch; undefined: the text is no time, or has more digits than that. */
function microseconds(text: string): bigint | undefined {
  const [, whole = '', fraction = '', zone = ''] = /^(.*T[\d:]+)(?:\.(\d+))?(Z|[+-].*)$/.exec(text) ?? [];
  if (/[1-9]/.test(fraction.slice(6))) return undefined;
  const start = secondOf(whole, zone);
  return Number.isNaN(start) ? undefined : BigInt(start) * 1000n + BigInt(fraction.slice(0, 6).padEnd(6, '0'));
}

function decimal(precision: number, scale: number): Form {
  return {
    fhir: 'decimal',
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
