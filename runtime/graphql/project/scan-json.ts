/**
 * Finds the ends of values in the JSON text of a stored resource, without making them. Stores write JSON without white space; a position
 * of -1 says that a text is not of that form.
 */
export const CHAR = {
  quote: 0x22,
  comma: 0x2c,
  colon: 0x3a,
  openList: 0x5b,
  backslash: 0x5c,
  closeList: 0x5d,
  /** As `null` begins. */
  null: 0x6e,
  openObject: 0x7b,
  closeObject: 0x7d,
} as const;

/** The position behind the value that begins at a position. */
export function skipValue(text: string, at: number): number {
  const first = text.charCodeAt(at);
  if (first === CHAR.quote) return skipText(text, at);
  return first === CHAR.openObject || first === CHAR.openList ? skipNested(text, at) : skipWord(text, at);
}

/** The position behind a text in quotes. */
function skipText(text: string, at: number): number {
  let end = text.indexOf('"', at + 1);
  while (end > 0 && text.charCodeAt(end - 1) === CHAR.backslash && isEscaped(text, end)) {
    end = text.indexOf('"', end + 1);
  }
  return end < 0 ? -1 : end + 1;
}

/** Whether an odd number of backslashes precedes a character. */
function isEscaped(text: string, at: number): boolean {
  let before = at - 1;
  while (text.charCodeAt(before) === CHAR.backslash) before--;
  return (at - before) % 2 === 0;
}

/** The position behind an object or a list. */
function skipNested(text: string, start: number): number {
  let depth = 0;
  for (let at = start; at < text.length; at++) {
    switch (text.charCodeAt(at)) {
      case CHAR.quote:
        at = skipText(text, at) - 1;
        if (at < 0) return -1;
        break;
      case CHAR.openObject:
      case CHAR.openList:
        depth++;
        break;
      case CHAR.closeObject:
      case CHAR.closeList:
        depth--;
        if (depth === 0) return at + 1;
    }
  }
  return -1;
}

/** The position behind a number, `true`, `false` or `null`. */
function skipWord(text: string, start: number): number {
  let at = start;
  for (; at < text.length; at++) {
    const each = text.charCodeAt(at);
    if (each === CHAR.comma || each === CHAR.closeObject || each === CHAR.closeList) break;
    if (each <= 0x20) return -1;
  }
  return at === start ? -1 : at;
}

/** The end of the name that begins behind a position, where a member begins; -1: none does. */
export function endOfName(text: string, at: number): number {
  if (text.charCodeAt(at) !== CHAR.quote) return -1;
  const end = text.indexOf('"', at + 1);
  if (end < 0 || text.charCodeAt(end + 1) !== CHAR.colon || text.charCodeAt(end - 1) === CHAR.backslash) return -1;
  return end;
}

/**
 * Where the next member or item begins, or the position of the bracket that ends the object or list.
 *
 * @param end behind the one before
 */
export function nextStart(text: string, end: number, close: number): number {
  const next = text.charCodeAt(end);
  if (next === CHAR.comma) return end + 1;
  return next === close ? end : -1;
}
