/**
 * Splits a value at a separator that no backslash takes the meaning from. Escapes stay, so that the parts can be split
 * further; `unescape` ends that. https://hl7.org/fhir/R5/search.html#escaping
 */
export function splitAt(text: string, separator: ',' | '|' | '$'): string[] {
  if (!text.includes(separator)) return [text];
  const parts: string[] = [];
  let start = 0;
  for (let i = 0; i < text.length; i++) {
    const c = text.charAt(i);
    if (c === '\\') i++;
    else if (c === separator) {
      parts.push(text.slice(start, i));
      start = i + 1;
    }
  }
  parts.push(text.slice(start));
  return parts;
}

/** Resolves `\,`, `\|`, `\$` and `\\`; a backslash before anything else stands for itself. */
export function unescape(text: string): string {
  return text.includes('\\') ? text.replace(/\\([,|$\\])/g, '$1') : text;
}
