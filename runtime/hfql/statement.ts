import { isObject, type JsonValue } from '../fhir/resource.js';

/** Type that a column is declared with. */
export type ColumnType =
  'BOOLEAN' | 'DATE' | 'DECIMAL' | 'INTEGER' | 'JSON' | 'LONGINT' | 'STRING' | 'TIME' | 'TIMESTAMP';

/** A column of the result. */
export interface SelectItem {
  /** FHIRPath relative to the resource; of a count also `*`. */
  readonly clause: string;
  /** Name of the column. */
  readonly alias: string;
  readonly operator: 'SELECT' | 'COUNT';
  readonly dataType: ColumnType;
}

/** A condition; all of a statement have to hold. */
export interface WhereItem {
  /** FHIRPath relative to the resource. */
  readonly left: string;
  readonly operator: 'EQUALS' | 'IN' | 'UNARY_BOOLEAN' | 'SEARCH_MATCH';
  /** Literals as they are written: `'male'`, `true`. */
  readonly right: readonly string[];
}

/** Sort key of the result: a column, by its clause or its alias. */
export interface OrderItem {
  readonly clause: string;
  readonly ascending: boolean;
}

/** A statement that was read. It goes to the client as JSON, and comes back for further rows. */
export interface Statement {
  readonly select: readonly SelectItem[];
  readonly where: readonly WhereItem[];
  readonly groupBy: readonly string[];
  readonly orderBy: readonly OrderItem[];
  readonly fromResourceName: string;
  readonly limit?: number;
}

/** A statement that cannot be read or run. Clients get the message as a row of the result. */
export class StatementError extends Error {
  constructor(message: string) {
    super(message);
    this.name = 'StatementError';
  }
}

/** The text of a literal: without its quotes, escapes undone. */
export function literalText(literal: string): string {
  return literal.startsWith("'") ? unescaped(literal.slice(1, -1)) : literal;
}

const ESCAPES: Readonly<Record<string, string>> = { n: '\n', r: '\r', t: '\t', f: '\f' };

/** A text with its escapes undone, which are those of FHIRPath. https://hl7.org/fhirpath/N1/#string */
export function unescaped(text: string): string {
  return text.replace(/\\(?:u([0-9A-Fa-f]{4})|(.))/gs, (_all, code: string | undefined, sign: string) =>
    code === undefined ? (ESCAPES[sign] ?? sign) : String.fromCharCode(Number.parseInt(code, 16)),
  );
}

/**
 * Reads a statement that a client sends back. It may be any text, so its form is checked; what it asks is checked like a new
 * statement. Types of columns are worked out anew.
 *
 * @param resourceTypes for FROM
 * @throws StatementError
 */
export function statementOfJson(text: string, resourceTypes: readonly string[]): Statement {
  let value: JsonValue;
  try {
    value = JSON.parse(text) as JsonValue;
  } catch {
    throw notOurs();
  }
  if (!isObject(value)) throw notOurs();
  const { select, where = [], groupBy = [], orderBy = [], fromResourceName, limit } = value;
  if (typeof fromResourceName !== 'string' || !resourceTypes.includes(fromResourceName)) throw notOurs();
  if (limit !== undefined && !Number.isSafeInteger(limit)) throw notOurs();
  return {
    select: list(select).map((each) => ({
      clause: string(each, 'clause'),
      alias: string(each, 'alias'),
      operator: word(each, 'operator', ['SELECT', 'COUNT']),
      dataType: 'STRING',
    })),
    where: list(where).map((each) => ({
      left: string(each, 'left'),
      operator: word(each, 'operator', ['EQUALS', 'IN', 'UNARY_BOOLEAN', 'SEARCH_MATCH']),
      right: list(isObject(each) ? each['right'] : undefined).map(plain),
    })),
    groupBy: list(groupBy).map(plain),
    orderBy: list(orderBy).map((each) => ({
      clause: string(each, 'clause'),
      ascending: isObject(each) && each['ascending'] === true,
    })),
    fromResourceName,
    ...(typeof limit === 'number' && { limit }),
  };
}

function list(value: JsonValue | undefined): readonly JsonValue[] {
  if (!Array.isArray(value)) throw notOurs();
  return value;
}

function plain(value: JsonValue | undefined): string {
  if (typeof value !== 'string') throw notOurs();
  return value;
}

function string(value: JsonValue, name: string): string {
  return plain(isObject(value) ? value[name] : undefined);
}

function word<const T extends string>(value: JsonValue, name: string, words: readonly T[]): T {
  const text = string(value, name);
  const found = words.find((each) => each === text);
  if (found === undefined) throw notOurs();
  return found;
}

function notOurs(): StatementError {
  return new StatementError('"statement" is not the JSON of a statement as the first answer gave it');
}
