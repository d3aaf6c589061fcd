import type { XmlName } from '../../fhir/xml/xml-tree.js';
import { quote } from '../../fhir/quote.js';
import { xmlFault } from './xml-fault.js';

/** A name without colon. https://www.w3.org/TR/xml-names/#NT-NCName */
const NC_NAME =
  /[A-Z_a-z\xc0-\xd6\xd8-\xf6\xf8-\u02ff\u0370-\u037d\u037f-\u1fff\u200c-\u200d\u2070-\u218f\u2c00-\u2fef\u3001-\ud7ff\uf900-\ufdcf\ufdf0-\ufffd\u{10000}-\u{effff}][-.0-9A-Z_a-z\xb7\xc0-\xd6\xd8-\xf6\xf8-\u037d\u037f-\u1fff\u200c-\u200d\u203f\u2040\u2070-\u218f\u2c00-\u2fef\u3001-\ud7ff\uf900-\ufdcf\ufdf0-\ufffd\u{10000}-\u{effff}]*/uy;
const DIGITS = /[0-9]+/y;
const SPACE = /[ \t\r\n]*/y;

/** Reads a selector piece by piece, white space between the pieces aside. */
export class SelectorReader {
  /** Where the last piece ended. */
  at = 0;

  constructor(private readonly text: string) {}

  /** Steps over these characters, if they come next. */
  takes(characters: string): boolean {
    const start = this.next();
    if (!this.text.startsWith(characters, start)) return false;
    this.at = start + characters.length;
    return true;
  }

  takesAxis(name: string): boolean {
    return this.takesWord(name, '::');
  }

  takesFunction(name: string): boolean {
    return this.takesWord(name, '(');
  }

  isAt(character: string): boolean {
    return this.text.charAt(this.next()) === character;
  }

  isAtDigit(): boolean {
    return /[0-9]/.test(this.text.charAt(this.next()));
  }

  expect(character: string): void {
    if (!this.takes(character)) this.fail(`"${character}" is expected`);
  }

  /** @throws PatchFault where something is left */
  end(): void {
    if (this.next() < this.text.length) this.fail('it has to end');
  }

  /** A name with or without a prefix. */
  name(): XmlName {
    const first = this.ncName();
    if (this.text.charAt(this.at) !== ':' || this.text.charAt(this.at + 1) === ':') return { prefix: '', local: first };
    this.at++;
    const local = this.match(NC_NAME, this.at);
    return { prefix: first, local: local ?? this.fail('a name is expected behind ":"') };
  }

  ncName(): string {
    return this.match(NC_NAME, this.next()) ?? this.fail('a name is expected');
  }

  /** A place, from 1. */
  position(): number {
    const position = Number(this.match(DIGITS, this.next()) ?? this.fail('a number is expected'));
    return position >= 1 ? position : this.fail('places are counted from 1');
  }

  /** A text in single or double quotes, in which nothing is escaped. */
  literal(): string {
    const start = this.next();
    const quote = this.text.charAt(start);
    const end = quote === '"' || quote === "'" ? this.text.indexOf(quote, start + 1) : -1;
    if (end < 0) return this.fail('a text in quotes is expected');
    this.at = end + 1;
    return this.text.slice(start + 1, end);
  }

  fail(text: string): never {
    const place = this.next();
    const rest = this.text.slice(place, place + 40);
    const where = rest === '' ? 'at its end' : `at ${JSON.stringify(rest)}`;
    const help =
      'a selector has steps as name, *, text(), comment() or @name, with [1], [@name="…"], [name="…"] or [.="…"]';
    throw xmlFault('invalid-attribute-value', `${quote(this.text)} cannot be read: ${where} ${text}; ${help}`);
  }

  private takesWord(word: string, after: string): boolean {
    const before = this.at;
    if (this.takes(word) && this.takes(after)) return true;
    this.at = before;
    return false;
  }

  private next(): number {
    SPACE.lastIndex = this.at;
    SPACE.exec(this.text);
    return SPACE.lastIndex;
  }

  private match(pattern: RegExp, start: number): string | undefined {
    pattern.lastIndex = start;
    const found = pattern.exec(this.text)?.[0];
    if (found !== undefined) this.at = start + found.length;
    return found;
  }
}
