import { Decimal } from '../fhir/decimal.js';
import type { JsonValue } from '../fhir/resource.js';
import { isJson, isNumber } from '../path/evaluate/item.js';

/** How the values of a column look, whatever their type is called. */
export type ColumnKind = 'boolean' | 'integer' | 'integer64' | 'decimal' | 'instant' | 'binary' | 'text' | 'object';

/** Column of a table. */
export interface Column {
  readonly name: string;
  /** Name of the type of its values: one of FHIR; empty where SQL computes them. */
  readonly type: string;
  readonly kind: ColumnKind;
  readonly isCollection: boolean;
  /** The type that its path gives, where that is known. */
  readonly pathType?: string;
  /** The type in SQL that its definition asks for. */
  readonly sqlType?: string;
  /** Whether the type was neither declared nor known from the path: any primitive is a value. */
  readonly isOpen: boolean;
}

const KINDS: Readonly<Record<string, ColumnKind>> = {
  ...{ boolean: 'boolean', integer: 'integer', positiveInt: 'integer', unsignedInt: 'integer' },
  ...{ integer64: 'integer64', decimal: 'decimal', instant: 'instant', base64Binary: 'binary' },
  ...{ Boolean: 'boolean', Integer: 'integer', Long: 'integer64', Decimal: 'decimal' },
};

/** The kind of a type of FHIR, or of one of FHIRPath (`System.Boolean`). */
export function kindOf(type: string, isPrimitive: (name: string) => boolean): ColumnKind {
  const name = type.replace(/^(?:http:\/\/hl7\.org\/fhirpath\/)?System\./, '');
  const kind = Object.hasOwn(KINDS, name) ? KINDS[name] : undefined;
  if (kind !== undefined) return kind;
  return isPrimitive(name) || name !== type || ['String', 'Date', 'DateTime', 'Time'].includes(name)
    ? 'text'
    : 'object';
}

/**
 * A value as a cell of a column of a kind: numbers as numbers, `integer64` as a number with all digits, anything else as stored.
 *
 * @returns undefined where the kind does not hold the value
 */
export function cellOf(value: unknown, kind: ColumnKind): JsonValue | undefined {
  switch (kind) {
    case 'boolean':
      return typeof value === 'boolean' ? value : undefined;
    case 'integer':
      // Of 32 bits, as in FHIR.
      return isNumber(value) && Number(value) === (Number(value) | 0) ? Number(value) : undefined;
    case 'integer64': {
      const text = String(value);
      if (typeof value === 'boolean' || !/^-?\d{1,19}$/.test(text)) return undefined;
      return Number.isSafeInteger(Number(text)) ? Number(text) : new Decimal(text);
    }
    case 'decimal':
      return isNumber(value) ? (value as number | Decimal) : undefined;
    case 'object':
      return isJson(value) ? (value as JsonValue) : undefined;
    default:
      return typeof value === 'string' ? value : undefined;
  }
}

/** Types whose values are all that their kind holds, also those that FHIR does not allow: computed texts may be empty, decimals long. */
const WIDE: ReadonlySet<string> = new Set(['string', 'markdown', 'boolean', 'decimal']);

/**
 * Returns the test of the cells of a column that declares its type: a `date` is a text, and not each text is one.
 *
 * @param type the declared one
 * @param given types that the values of its path have for sure
 * @returns undefined: what the kind holds, the type does
 */
export function cellTest(
  type: string,
  given: readonly string[],
  tests: ReadonlyMap<string, (value: unknown) => boolean>,
): ((cell: JsonValue) => boolean) | undefined {
  const test = WIDE.has(type) || given.includes(type) ? undefined : tests.get(type);
  return type === 'integer64' ? test && ((cell) => test(String(cell as number))) : test;
}

/** A primitive as it is; undefined: it is none. */
export function openCell(value: unknown): JsonValue | undefined {
  return isJson(value) || Array.isArray(value) ? undefined : (value as JsonValue);
}
