/**
 * The beginning of a JSON text as JSON of its own: values that do not end within the limit are left out, and what is open is closed.
 * The cost depends on the limit alone.
 *
 * @param text an object, valid
 * @param limit characters
 */
export function cutJson(text: string, limit: number): string {
  if (text.length <= limit) return text;
  let closers = '';
  let isName = false;
  let kept = 0;
  let toClose = '';
  const keep = (end: number): void => {
    kept = end;
    toClose = closers;
  };
  for (let at = 0; at < limit; at++) {
    switch (text[at]) {
      case '{':
      case '[':
        isName = text[at] === '{';
        closers = (isName ? '}' : ']') + closers;
        break;
      case '}':
      case ']':
        closers = closers.slice(1);
        isName = false;
        keep(at + 1);
        break;
      case ',':
        isName = closers.startsWith('}');
        break;
      case ':':
        isName = false;
        break;
      case '"':
        at = endOfString(text, at, limit);
        if (at < limit && !isName) keep(at + 1);
        break;
      case ' ':
      case '\n':
      case '\r':
      case '\t':
        break;
      default:
        at = endOfWord(text, at, limit);
        if (at < limit) keep(at + 1);
    }
  }
  return kept === 0 ? '{}' : text.slice(0, kept) + toClose;
}

/** Index of the closing quotation mark; the limit or more: it is not within the limit. */
function endOfString(text: string, start: number, limit: number): number {
  let at = start + 1;
  while (at < limit && text[at] !== '"') at += text[at] === '\\' ? 2 : 1;
  return at;
}

/** Index of the last character of a number, true, false or null; the limit: it may go on behind it. */
function endOfWord(text: string, start: number, limit: number): number {
  let at = start;
  while (at < limit && !/[\s,\]}]/.test(text[at] ?? '')) at++;
  return at < limit ? at - 1 : limit;
}
