import type { Range } from './row-test.js';

/**
 * The range of all texts that begin with this one, in the order of code points: what the server compares, and what no
 * character in it can change, as in a regular expression it could.
 */
export function prefixRange(prefix: string): Range {
  const end = successor(prefix);
  return end === undefined ? { gte: prefix } : { gte: prefix, lt: end };
}

const LAST = 0x10ffff;

/** The least text above all that begin with this one; undefined: there is none. */
function successor(prefix: string): string | undefined {
  const points = [...prefix];
  for (let last = points.pop(); last !== undefined; last = points.pop()) {
    const point = last.codePointAt(0)!;
    // Surrogates are no characters.
    if (point < LAST) return points.join('') + String.fromCodePoint(point === 0xd7ff ? 0xe000 : point + 1);
  }
  return undefined;
}

/** Text as a regular expression that finds it. Words need no escapes, and a minus within no class has no meaning. */
export function escapeRegex(text: string): string {
  return text.replace(/[\\^$.*+?()[\]{}|]/g, '\\$&');
}

/**
 * Characters of a regular expression, well below what the server takes: 32,764, and 64 KB when it is compiled, where a class
 * of characters takes 33 bytes.
 */
const MAX_PATTERN = 4000;

/** Whether a pattern is one that the server takes: BSON ends it at the first null character. */
export function fitsRegex(pattern: string): boolean {
  return pattern.length <= MAX_PATTERN && !pattern.includes('\0');
}

/** Characters whose cases are written out in front, so that an index can be walked through by what they begin with. */
const WRITTEN_OUT = 3;

/** Beginnings that texts can have, one in each case that the first of its letters can have; and the rest of it. */
export function beginnings(lower: string): { readonly heads: readonly string[]; readonly rest: string } {
  let heads = [''];
  let end = 0;
  for (let n = 0; n < WRITTEN_OUT && end < lower.length; n++) {
    const point = String.fromCodePoint(lower.codePointAt(end)!);
    end += point.length;
    const upper = isLetter(point) ? point.toUpperCase() : undefined;
    heads = heads.flatMap((head) => (upper === undefined ? [head + point] : [head + upper, head + point]));
  }
  return { heads, rest: lower.slice(end) };
}

/** Regular expressions of which one matches what begins with this text, ASCII letters in either case. */
export function anyCasePatterns(lower: string): string[] {
  const { heads, rest } = beginnings(lower);
  const tail = [...rest]
    .map((point) => (isLetter(point) ? `[${point.toUpperCase()}${point}]` : escapeRegex(point)))
    .join('');
  return heads.map((head) => `^${escapeRegex(head)}${tail}`);
}

function isLetter(point: string): boolean {
  return point.length === 1 && point >= 'a' && point <= 'z';
}
