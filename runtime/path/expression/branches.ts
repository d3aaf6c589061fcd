import { tokenize, type Token } from './tokenize.js';

const OPEN = new Set(['(', '[']);
const CLOSE = new Set([')', ']']);
/** They bind less tightly than a union: what stands beside them is not a branch of its own. */
const LOOSER = new Set(['and', '=', '!=']);

/**
 * The branches of an expression: its outermost unions taken apart, also through enclosing parentheses. Each is the
 * text of the definition, without parentheses around the whole.
 */
export function splitBranches(text: string): string[] {
  const tokens = unwrap(tokenize(text).slice(0, -1));
  const parts = splitUnion(tokens);
  const first = tokens[0];
  const last = tokens.at(-1);
  if (first === undefined || last === undefined) return [];
  if (parts.length === 1) return [text.slice(first.start, last.end)];
  return parts.flatMap((part) => splitBranches(text.slice(part[0]?.start ?? 0, part.at(-1)?.end ?? 0)));
}

function splitUnion(tokens: readonly Token[]): Token[][] {
  const parts: Token[][] = [[]];
  let depth = 0;
  for (const token of tokens) {
    if (token.kind !== 'string') {
      if (OPEN.has(token.text)) depth++;
      if (CLOSE.has(token.text)) depth--;
      if (depth === 0 && LOOSER.has(token.text)) return [[...tokens]];
      if (depth === 0 && token.text === '|') {
        parts.push([]);
        continue;
      }
    }
    parts.at(-1)?.push(token);
  }
  return parts;
}

function unwrap(tokens: readonly Token[]): readonly Token[] {
  let inner = tokens;
  while (inner[0]?.text === '(' && inner[0].kind === 'symbol' && closing(inner) === inner.length - 1) {
    inner = inner.slice(1, -1);
  }
  return inner;
}

/** Index of the parenthesis that closes the first token. */
function closing(tokens: readonly Token[]): number {
  let depth = 0;
  return tokens.findIndex((token) => {
    if (token.kind === 'symbol' && OPEN.has(token.text)) depth++;
    if (token.kind === 'symbol' && CLOSE.has(token.text)) depth--;
    return depth === 0;
  });
}
