import { ExpressionError } from './expression-error.js';

/** A word of FHIRPath with its place in the text. */
export interface Token {
  readonly text: string;
  readonly kind: 'name' | 'string' | 'number' | 'time' | 'symbol' | 'end';
  readonly start: number;
  readonly end: number;
}

const ESCAPES: Readonly<Record<string, string>> = { f: '\f', n: '\n', r: '\r', t: '\t' };

/** What a string literal says. http://hl7.org/fhirpath/N1/#string */
function unescape(literal: string, text: string): string {
  return literal.replaceAll(/\\(u[0-9a-fA-F]{4}|.)/g, (_whole, escape: string) => {
    if (/^u./.test(escape)) return String.fromCharCode(Number.parseInt(escape.slice(1), 16));
    if (`'"\`\\/`.includes(escape)) return escape;
    const character = ESCAPES[escape];
    if (character === undefined) throw new ExpressionError(`${text}: \\${escape} is no escape in a string`);
    return character;
  });
}

/** Takes FHIRPath apart into words; the last one is an empty `end`. Throws ExpressionError on what FHIRPath lacks. */
export function tokenize(text: string): Token[] {
  const tokens: Token[] = [];
  const pattern =
    /\s*(?:([A-Za-z_][A-Za-z0-9_]*)|'((?:[^'\\]|\\.)*)'|"((?:[^"\\]|\\.)*)"|`([^`\\]+)`|([0-9]+(?:\.[0-9]+)?)L?|@([0-9T][0-9T:.Z+-]*)|(!=|!~|<=|>=|[.()[\]|=,<>&+*/~%{}$-]))/y;
  const { length } = text.trimEnd();
  let end = 0;
  while (end < length) {
    pattern.lastIndex = end;
    const match = pattern.exec(text);
    if (match === null) throw new ExpressionError(`${text}: cannot read character ${end + 1}`, 'no-steps', end);
    const start = end + match[0].length - match[0].trimStart().length;
    end = pattern.lastIndex;
    const [, name, quoted, doubleQuoted, delimited, number, time, symbol] = match;
    const string = quoted ?? doubleQuoted;
    if (name !== undefined) tokens.push({ text: name, kind: 'name', start, end });
    else if (delimited !== undefined) tokens.push({ text: delimited, kind: 'name', start, end });
    else if (string !== undefined) tokens.push({ text: unescape(string, text), kind: 'string', start, end });
    else if (time !== undefined) tokens.push({ text: time, kind: 'time', start, end });
    else if (number !== undefined) tokens.push({ text: number, kind: 'number', start, end });
    else tokens.push({ text: symbol ?? '', kind: 'symbol', start, end });
  }
  tokens.push({ text: '', kind: 'end', start: text.length, end: text.length });
  return tokens;
}
