import { PathFault } from './path-fault.js';

/** Greatest length of a path, in UTF-16 code units. */
export const MAX_LENGTH = 2000;
/** Greatest number of names, literals, operators and brackets: the parser's time grows with its square. */
export const MAX_TOKENS = 128;
/** Greatest depth of brackets within each other. */
export const MAX_NESTING = 16;

/** A path that is longer or deeper than may be parsed. */
export class PathTooLarge extends PathFault {
  constructor(text: string) {
    super(text, 'path', 'patch-invalid');
  }
}

const TOKEN =
  /\s+|'(?:\\.|[^'\\])*'|`(?:\\.|[^`\\])*`|@[0-9T:.Z+-]*|[A-Za-z_][A-Za-z0-9_]*|\$[a-z]+|[0-9]+(?:\.[0-9]+)?L?|<=|>=|!=|!~|[%.,:()[\]{}+\-*/&|<>=~]/y;
const PAIRS: Readonly<Record<string, string>> = { ')': '(', ']': '[', '}': '{' };

/**
 * The words of an expression in FHIRPath, white space left out: enough to tell whether it is of a size that may be
 * parsed. Comments are refused.
 *
 * @throws PathFault where it is too long or too deep, or brackets and quotes do not match
 */
export function scanPath(text: string): readonly string[] {
  if (text.length > MAX_LENGTH)
    throw new PathTooLarge(`a path has at most ${MAX_LENGTH} characters, this one ${text.length}`);
  const tokens: string[] = [];
  const open: string[] = [];
  for (let at = 0; at < text.length; at = TOKEN.lastIndex) {
    TOKEN.lastIndex = at;
    const token = TOKEN.exec(text)?.[0];
    if (token === undefined || text.startsWith('//', at) || text.startsWith('/*', at)) {
      throw invalid(`the path cannot be read from character ${at + 1} on`);
    }
    if (/^\s/.test(token)) continue;
    if (tokens.push(token) > MAX_TOKENS)
      throw new PathTooLarge(`a path has at most ${MAX_TOKENS} names, literals and operators`);
    if (token === '(' || token === '[' || token === '{') {
      if (open.push(token) > MAX_NESTING) throw new PathTooLarge(`brackets may be nested ${MAX_NESTING} deep`);
    } else if (Object.hasOwn(PAIRS, token) && open.pop() !== PAIRS[token]) {
      throw invalid(`there is a "${token}" that closes nothing`);
    }
  }
  if (open.length > 0) throw invalid(`there is a "${open.at(-1)}" that nothing closes`);
  if (tokens.length === 0) throw invalid('the path is empty');
  return tokens;
}

function invalid(text: string): PathFault {
  return new PathFault(text, 'path', 'patch-invalid');
}
