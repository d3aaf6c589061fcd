import { append } from '../../fhir/lists.js';
import { tokenize, type Token } from './tokenize.js';

const OPEN = new Set(['(', '[']);
const CLOSE = new Set([')', ']']);
/**
 * Operators that bind less tightly than a union: what is beside them is not a branch of its own.
 * http://hl7.org/fhirpath/N1/#operator-precedence
 */
const LOOSER = new Set(['and', 'or', 'xor', 'implies', 'in', 'contains', '=', '!=', '~', '!~', '<', '<=', '>', '>=']);
const BEFORE_NAMES = new Set(['.', '|']);

/** Tokens from one to before another. */
type Stretch = readonly [from: number, to: number];

/**
 * The branches of an expression: its outermost unions taken apart, also through enclosing parentheses. Each is the
 * text of the definition, without parentheses around the whole. Takes time in proportion to the text, however it is nested.
 *
 * @throws ExpressionError on what FHIRPath lacks
 */
export function splitBranches(text: string): string[] {
  const tokens = tokenize(text).slice(0, -1);
  const closings = pair(tokens);
  // What does not match is refused by the reader, with the place.
  if (closings === undefined) return [text.trim()];
  const branches: string[] = [];
  const pending: Stretch[] = [[0, tokens.length]];
  for (let next = pending.pop(); next !== undefined; next = pending.pop()) {
    const stretch = unwrap(next, tokens, closings);
    const parts = splitUnion(stretch, tokens, closings);
    if (parts.length > 1) append(pending, parts.reverse());
    else append(branches, textOf(stretch, text, tokens));
  }
  return branches;
}

function textOf([from, to]: Stretch, text: string, tokens: readonly Token[]): string[] {
  const [first, last] = [tokens[from], tokens[to - 1]];
  return from >= to || first === undefined || last === undefined ? [] : [text.slice(first.start, last.end)];
}

/** Of each opening bracket the index of the one that closes it; undefined where some do not match. */
function pair(tokens: readonly Token[]): ReadonlyMap<number, number> | undefined {
  const closings = new Map<number, number>();
  const open: number[] = [];
  for (const [i, { kind, text }] of tokens.entries()) {
    if (kind !== 'symbol') continue;
    if (OPEN.has(text)) open.push(i);
    if (!CLOSE.has(text)) continue;
    const opening = open.pop();
    if (opening === undefined) return undefined;
    closings.set(opening, i);
  }
  return open.length > 0 ? undefined : closings;
}

/** Without the parentheses around the whole. */
function unwrap([from, to]: Stretch, tokens: readonly Token[], closings: ReadonlyMap<number, number>): Stretch {
  let [first, end] = [from, to];
  while (tokens[first]?.text === '(' && closings.get(first) === end - 1) {
    first++;
    end--;
  }
  return [first, end];
}

/** The parts between `|`; one where there is none, an operator that binds less tightly, or nothing beside one, which is refused when read. */
function splitUnion([from, to]: Stretch, tokens: readonly Token[], closings: ReadonlyMap<number, number>): Stretch[] {
  const parts: Stretch[] = [];
  let begin = from;
  // A word is an operator only behind what it can be one of: names may be spelled the same.
  let isOperand = false;
  for (let i = from; i < to; i = (closings.get(i) ?? i) + 1) {
    const { text, kind } = tokens[i] as Token;
    if (kind !== 'string' && kind !== 'number' && isOperand && LOOSER.has(text)) return [[from, to]];
    isOperand = kind !== 'symbol' || !BEFORE_NAMES.has(text);
    if (kind !== 'symbol' || text !== '|') continue;
    parts.push([begin, i]);
    begin = i + 1;
  }
  parts.push([begin, to]);
  return parts.some(([first, end]) => first === end) ? [[from, to]] : parts;
}
