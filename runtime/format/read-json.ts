import { Decimal } from '../fhir/decimal.js';
import { FhirError, type ErrorCode } from '../fhir/errors.js';
import type { JsonObject, JsonValue } from '../fhir/resource.js';

/** Greatest depth of objects and arrays within each other, where nothing else is configured. */
export const MAX_DEPTH = 100;

/** Greatest number of properties in an object: no resource has nearly as many, and objects that do are slow. */
const MAX_PROPERTIES = 10_000;

/** The one property name that is refused: assigning it would change an object's prototype. */
const FORBIDDEN_KEY = '__proto__';

/**
 * Reads JSON (RFC 8259), strictly and without loss: a number whose text a double would not give back becomes a
 * `Decimal`. https://hl7.org/fhir/R5/json.html
 *
 * @param depth greatest depth of objects and arrays within each other
 * @throws FhirError `json-syntax`, `json-duplicate-key`, `json-forbidden-key`, `json-depth` or `json-encoding` (a lone
 * surrogate), each naming line and column (in UTF-16 code units, from 1)
 */
export function readJson(text: string, depth = MAX_DEPTH): JsonValue {
  return new Reader(text, depth).document();
}

const NUMBER = /-?(?:0|[1-9][0-9]*)(?:\.[0-9]+)?(?:[eE][+-]?[0-9]+)?/y;
/** Characters of a string that stand for themselves. */
// eslint-disable-next-line no-control-regex
const PLAIN = /[^"\\\u0000-\u001f\ud800-\udfff]*/y;
const HEX = /^[0-9a-fA-F]{4}$/;
const ESCAPES: Readonly<Record<string, string>> = {
  '"': '"',
  '\\': '\\',
  '/': '/',
  b: '\b',
  f: '\f',
  n: '\n',
  r: '\r',
  t: '\t',
};
const LITERALS: Readonly<Record<string, readonly [string, JsonValue]>> = {
  t: ['true', true],
  f: ['false', false],
  n: ['null', null],
};

class Reader {
  private at = 0;

  constructor(
    private readonly text: string,
    private readonly depth: number,
  ) {}

  document(): JsonValue {
    this.skipSpace();
    if (this.at === this.text.length) this.fail('json-syntax', 'there is no value');
    const value = this.value(this.depth);
    this.skipSpace();
    if (this.at < this.text.length) this.fail('json-syntax', 'nothing may follow the value');
    return value;
  }

  private value(depth: number): JsonValue {
    const first = this.text.charAt(this.at);
    if (first === '"') return this.string();
    if (first === '{') return this.object(depth);
    if (first === '[') return this.array(depth);
    if (first === '-' || (first >= '0' && first <= '9')) return this.number();
    const literal = LITERALS[first];
    if (literal === undefined || !this.text.startsWith(literal[0], this.at)) {
      return this.fail('json-syntax', first === '' ? 'the text ends where a value is expected' : 'expected a value');
    }
    this.at += literal[0].length;
    return literal[1];
  }

  private object(depth: number): JsonObject {
    const object: JsonObject = {};
    this.enter(depth);
    if (this.takes('}')) return object;
    let left = MAX_PROPERTIES;
    do {
      this.skipSpace();
      const start = this.at;
      if (this.text.charAt(start) !== '"') this.fail('json-syntax', 'expected a property name in double quotes');
      const name = this.string();
      if (left-- === 0) this.fail('json-forbidden-key', `an object has more than ${MAX_PROPERTIES} properties`, start);
      if (name === FORBIDDEN_KEY) this.fail('json-forbidden-key', `the property "${name}" is not allowed`, start);
      // Only inherited names ("constructor") need the second, slower question.
      if (object[name] !== undefined && Object.hasOwn(object, name)) {
        this.fail('json-duplicate-key', `the property ${JSON.stringify(name)} appears twice in one object`, start);
      }
      if (!this.takes(':')) this.fail('json-syntax', 'expected ":"');
      this.skipSpace();
      object[name] = this.value(depth - 1);
    } while (this.takes(','));
    if (!this.takes('}')) this.fail('json-syntax', 'expected "," or "}"');
    return object;
  }

  private array(depth: number): JsonValue[] {
    const array: JsonValue[] = [];
    this.enter(depth);
    if (this.takes(']')) return array;
    do {
      this.skipSpace();
      array.push(this.value(depth - 1));
    } while (this.takes(','));
    if (!this.takes(']')) this.fail('json-syntax', 'expected "," or "]"');
    return array;
  }

  private enter(depth: number): void {
    if (depth === 0) this.fail('json-depth', `objects and arrays may be nested ${this.depth} deep`);
    this.at++;
  }

  private number(): number | Decimal {
    NUMBER.lastIndex = this.at;
    const text = NUMBER.exec(this.text)?.[0];
    if (text === undefined) return this.fail('json-syntax', 'expected a digit after "-"');
    const after = this.text.charAt(this.at + text.length);
    if ((after >= '0' && after <= '9') || after === '.' || after === 'e' || after === 'E') {
      this.fail('json-syntax', 'not a number as JSON writes it');
    }
    this.at += text.length;
    const value = Number(text);
    return String(value) === text ? value : new Decimal(text);
  }

  private string(): string {
    let value = '';
    this.at++;
    for (;;) {
      PLAIN.lastIndex = this.at;
      PLAIN.exec(this.text);
      value += this.text.slice(this.at, PLAIN.lastIndex);
      this.at = PLAIN.lastIndex;
      const next = this.text.charAt(this.at);
      if (next === '"') {
        this.at++;
        return value;
      }
      if (next === '\\') value += this.escape();
      else if (next === '') this.fail('json-syntax', 'the text ends within a string');
      else if (next < ' ') this.fail('json-syntax', 'a control character within a string has to be escaped');
      else value += this.pair();
    }
  }

  /** A surrogate pair that is unescaped. */
  private pair(): string {
    const pair = this.text.slice(this.at, this.at + 2);
    if (!isPair(pair)) this.fail('json-encoding', 'half of a surrogate pair');
    this.at += 2;
    return pair;
  }

  private escape(): string {
    const start = this.at;
    const letter = this.text.charAt(start + 1);
    const plain = ESCAPES[letter];
    if (plain !== undefined) {
      this.at += 2;
      return plain;
    }
    if (letter !== 'u') this.fail('json-syntax', 'unknown escape');
    let value = this.unit();
    if (value >= '\ud800' && value <= '\udfff') {
      // The other half has to follow as an escape too.
      if (this.text.startsWith('\\u', this.at)) value += this.unit();
      if (!isPair(value)) this.fail('json-encoding', 'half of a surrogate pair', start);
    }
    return value;
  }

  /** One `\uXXXX`. */
  private unit(): string {
    const digits = this.text.slice(this.at + 2, this.at + 6);
    if (!HEX.test(digits)) this.fail('json-syntax', 'expected four hexadecimal digits after "\\u"');
    this.at += 6;
    return String.fromCharCode(Number.parseInt(digits, 16));
  }

  /** Steps over white space and, where it comes next, over this character. */
  private takes(character: string): boolean {
    this.skipSpace();
    if (this.text.charAt(this.at) !== character) return false;
    this.at++;
    return true;
  }

  private skipSpace(): void {
    for (;;) {
      const code = this.text.charCodeAt(this.at);
      if (code !== 0x20 && code !== 0x0a && code !== 0x0d && code !== 0x09) return;
      this.at++;
    }
  }

  private fail(code: ErrorCode, message: string, at: number = this.at): never {
    const before = this.text.slice(0, at);
    const start = before.lastIndexOf('\n') + 1;
    let line = 1;
    for (let i = before.indexOf('\n'); i >= 0; i = before.indexOf('\n', i + 1)) line++;
    throw new FhirError(code, `Line ${line}, column ${at - start + 1}: ${message}`);
  }
}

function isPair(text: string): boolean {
  return /^[\ud800-\udbff][\udc00-\udfff]$/.test(text);
}
