/**
 * Tests of text that read it once, character by character: for the short texts that resources are made of that is
 * quicker than a regular expression. All take any non-empty text.
 */

/**
 * Characters that no text in FHIR has: those below 32, but tab, line feed and carriage return, and those two that XML
 * cannot hold either.
 */
// eslint-disable-next-line no-control-regex
const FORBIDDEN = /[\u0000-\u0008\u000b\u000c\u000e-\u001f\ufffe\uffff]/;
/** Beyond this length a regular expression is quicker. */
const SHORT = 16;

/** Any text without such characters. https://hl7.org/fhir/R5/datatypes.html#string */
export function isAnyText(text: string): boolean {
  if (text.length > SHORT) return !FORBIDDEN.test(text);
  for (let i = 0; i < text.length; i++) {
    const code = text.charCodeAt(i);
    if (code < 0x20 || code >= 0xfffe) return !FORBIDDEN.test(text);
  }
  return true;
}

/**
 * Whether a text passes `isAnyText` and has a character that is no white space. Every stored resource can be written as XML,
 * and XML cannot have a value of white space alone. https://hl7.org/fhir/R5/xml.html
 */
export function isString(text: string): boolean {
  return isAnyText(text) && (text.charCodeAt(0) > 0x20 || /[^ \t\r\n]/.test(text));
}

/** Text without white space, such as a uri. https://hl7.org/fhir/R5/datatypes.html#uri */
export function isVisibleText(text: string): boolean {
  for (let i = 0; i < text.length; i++) {
    const code = text.charCodeAt(i);
    if (code <= 0x20 || (code >= 0x80 && isNoLetter(code))) return false;
  }
  return true;
}

/** Words parted by single spaces. https://hl7.org/fhir/R5/datatypes.html#code */
export function isCode(text: string): boolean {
  let wordStarts = true;
  for (let i = 0; i < text.length; i++) {
    const code = text.charCodeAt(i);
    if (code === 0x20) {
      if (wordStarts) return false;
      wordStarts = true;
    } else if (code < 0x20 || (code >= 0x80 && isNoLetter(code))) {
      return false;
    } else {
      wordStarts = false;
    }
  }
  return !wordStarts;
}

const NOT_BASE64 = /[^A-Za-z0-9+/]/;

/** Base64; readers ignore white space in it. https://hl7.org/fhir/R5/datatypes.html#base64Binary */
export function isBase64(sent: string): boolean {
  const text = /[ \t\r\n]/.test(sent) ? sent.replace(/[ \t\r\n]+/g, '') : sent;
  if (text.length === 0 || text.length % 4 !== 0) return false;
  const first = text.search(NOT_BASE64);
  return first < 0 || (first >= text.length - 2 && text.slice(first) === '=='.slice(first - text.length));
}

/** https://hl7.org/fhir/R5/datatypes.html#oid */
export function isOid(text: string): boolean {
  return /^urn:oid:[0-2]\.[.0-9]*$/.test(text) && !/\.(?:\.|0[0-9]|$)/.test(text);
}

/** White space beyond ASCII as regular expressions know it, and what XML cannot hold. */
function isNoLetter(code: number): boolean {
  return (
    code === 0xa0 ||
    (code >= 0x1680 &&
      (code === 0x1680 ||
        (code >= 0x2000 && code <= 0x200a) ||
        code === 0x2028 ||
        code === 0x2029 ||
        code === 0x202f ||
        code === 0x205f ||
        code === 0x3000 ||
        code === 0xfeff ||
        code >= 0xfffe))
  );
}
