import { StatementError } from './statement.js';

/** A piece of a statement. */
export interface Token {
  readonly kind: 'word' | 'string' | 'number' | 'symbol' | 'end';
  readonly text: string;
  /** Where it begins in the statement, from 0 on. */
  readonly start: number;
  /** Where it ends, exclusive. */
  readonly end: number;
}

/** Greatest length of a statement, in UTF-16 code units. */
const LONGEST = 50_000;

const TOKEN =
  /(?<space>\s+)|(?<string>'(?:[^'\\]|\\.)*')|(?<word>[$%@]?[A-Za-z_][A-Za-z0-9_]*|`[^`]+`)|(?<number>@[0-9T][0-9T:.+Z-]*|[0-9]+(?:\.[0-9]+)?)|(?<symbol><=|>=|!=|!~|[.,()[\]=<>~+*/|&:-])/suy;

/** Splits a statement. @throws StatementError with line and column */
export function tokenize(text: string): readonly Token[] {
  if (text.length > LONGEST) {
    throw new StatementError(`The statement has ${text.length} characters, and may have ${LONGEST}`);
  }
  const tokens: Token[] = [];
  let start = 0;
  while (start < text.length) {
    TOKEN.lastIndex = start;
    const groups = TOKEN.exec(text)?.groups;
    if (groups === undefined) throw unreadable(text, start);
    const [kind, found = ''] = Object.entries(groups).find(([, each]) => each !== undefined) ?? [];
    const end = start + found.length;
    if (kind !== 'space') tokens.push({ kind: kind as Token['kind'], text: found, start, end });
    start = end;
  }
  return [...tokens, { kind: 'end', text: '', start: text.length, end: text.length }];
}

/** `at line 1, column 8` */
export function placeOf(text: string, at: number): string {
  const before = text.slice(0, at).split('\n');
  return `at line ${before.length}, column ${(before.at(-1) ?? '').length + 1}`;
}

function unreadable(text: string, at: number): StatementError {
  if (text[at] === "'") return new StatementError(`The text that begins ${placeOf(text, at)} has no closing quote`);
  return new StatementError(`Unexpected character ${JSON.stringify(text[at])} ${placeOf(text, at)}`);
}
