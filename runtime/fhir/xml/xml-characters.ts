/** What XML 1.0 cannot hold, not even escaped. https://www.w3.org/TR/xml/#charsets */
// eslint-disable-next-line no-control-regex
const UNWRITABLE = /[\u0000-\u0008\u000b\u000c\u000e-\u001f\ufffe\uffff]|\p{Surrogate}/u;

/** Where the first character is that XML 1.0 cannot hold, in UTF-16 code units from 0; -1: there is none. */
export function unwritableAt(text: string): number {
  return text.search(UNWRITABLE);
}

/** The first character that XML 1.0 cannot hold, as `U+0007`, or undefined. */
export function unwritableCharacter(text: string): string | undefined {
  const code = UNWRITABLE.exec(text)?.[0].codePointAt(0);
  return code === undefined ? undefined : `U+${code.toString(16).toUpperCase().padStart(4, '0')}`;
}

/** Whether a code point may be in XML 1.0. */
export function isXmlCharacter(code: number): boolean {
  if (code < 0x20) return code === 0x9 || code === 0xa || code === 0xd;
  return code <= 0xd7ff || (code >= 0xe000 && code <= 0xfffd) || (code >= 0x10000 && code <= 0x10ffff);
}
