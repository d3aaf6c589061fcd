import { Code } from '../emit/artefact.js';

const WIDTH = 120;

/**
 * Plain data as a TypeScript literal: on one line if it fits, otherwise one entry per line, so that a changed row is one
 * changed line. Keys are quoted only if necessary.
 *
 * @param indent indentation of the line, in columns
 * @param before columns of the line that are already used
 */
export function literal(value: unknown, indent = 0, before = indent): string {
  if (!isCollection(value)) return inline(value);
  const line = inlineWithin(value, WIDTH - before - 1);
  if (line !== undefined) return line;
  const deeper = indent + 2;
  const pad = ' '.repeat(deeper);
  const entries = Array.isArray(value)
    ? value.map((entry) => literal(entry, deeper))
    : entriesOf(value).map(([key, entry]) => `${name(key)}: ${literal(entry, deeper, deeper + name(key).length + 2)}`);
  const [open, close] = Array.isArray(value) ? ['[', ']'] : ['{', '}'];
  return [open, ...entries.map((entry) => `${pad}${entry},`), `${' '.repeat(indent)}${close}`].join('\n');
}

/** The literal on one line, if it has at most `room` characters. Stops early otherwise, because most rows are longer. */
function inlineWithin(value: object, room: number): string | undefined {
  if (atLeast(value, room) > room) return undefined;
  const line = inline(value);
  return line.length <= room ? line : undefined;
}

/** Lower bound of the characters of an inline literal. Counting stops once it exceeds `room`. */
function atLeast(value: unknown, room: number): number {
  if (typeof value === 'string') return value.length;
  if (!isCollection(value)) return 0;
  let length = 0;
  for (const entry of Object.values(value)) {
    if (entry === undefined) continue;
    // Comma and space, or brackets.
    length += 2 + atLeast(entry, room - length);
    if (length > room) break;
  }
  return length;
}

function inline(value: unknown): string {
  if (value instanceof Code) return value.text;
  if (typeof value === 'string') return quote(value);
  if (Array.isArray(value)) return `[${value.map(inline).join(', ')}]`;
  if (isCollection(value)) {
    const entries = entriesOf(value).map(([key, entry]) => `${name(key)}: ${inline(entry)}`);
    return entries.length === 0 ? '{}' : `{ ${entries.join(', ')} }`;
  }
  return String(value);
}

/** The entries of an object without undefined values. */
function entriesOf(value: object): [string, unknown][] {
  return Object.entries(value).filter(([, entry]) => entry !== undefined);
}

function isCollection(value: unknown): value is object {
  return typeof value === 'object' && value !== null && !(value instanceof Code);
}

function name(key: string): string {
  return /^[A-Za-z_][A-Za-z0-9_]*$/.test(key) && key !== '__proto__' ? key : quote(key);
}

/** A string in single quotes; control and line-separating characters escaped. */
export function quote(text: string): string {
  const escaped = JSON.stringify(text)
    .slice(1, -1)
    .replaceAll('\\"', '"')
    .replaceAll("'", "\\'")
    .replaceAll('\u2028', '\\u2028')
    .replaceAll('\u2029', '\\u2029');
  return `'${escaped}'`;
}
