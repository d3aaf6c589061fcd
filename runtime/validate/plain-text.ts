/** Tests of any non-empty text. Their time grows with the length alone, and none runs out of stack on a text of megabytes. */

/**
 * Characters that no text in FHIR has: those below 32, but tab, line feed and carriage return, and those two that XML
 * cannot hold either.
 */
// eslint-disable-next-line no-control-regex
const FORBIDDEN = /[\u0000-\u0008\u000b\u000c\u000e-\u001f\ufffe\uffff]/;

/** Whether a text has no such characters. https://hl7.org/fhir/R5/datatypes.html#string */
export function isAnyText(text: string): boolean {
  return !FORBIDDEN.test(text);
}

/**
 * Whether a text passes `isAnyText` and has a character that is no white space. Every stored resource can be written as XML,
 * and XML cannot have a value of white space alone. https://hl7.org/fhir/R5/xml.html
 */
export function isString(text: string): boolean {
  return !FORBIDDEN.test(text) && (text.charCodeAt(0) > 0x20 || /[^ \t\r\n]/.test(text));
}

// eslint-disable-next-line no-control-regex
const INVISIBLE = /[\u0000-\u0020\s\ufffe\uffff]/;

/** Whether a text has no white space, such as a uri. https://hl7.org/fhir/R5/datatypes.html#uri */
export function isVisibleText(text: string): boolean {
  return !INVISIBLE.test(text);
}

/** Other white space than a space, and a space that does not part two words. */
// eslint-disable-next-line no-control-regex
const NOT_OF_CODE = /[\u0000-\u001f\ufffe\uffff]|[^\S ]|^ | $| {2}/;

/** Whether a text is words parted by single spaces. https://hl7.org/fhir/R5/datatypes.html#code */
export function isCode(text: string): boolean {
  return !NOT_OF_CODE.test(text);
}

const NOT_BASE64 = /[^A-Za-z0-9+/]/;

/** Whether a text is Base64; readers ignore white space in it. https://hl7.org/fhir/R5/datatypes.html#base64Binary */
export function isBase64(sent: string): boolean {
  const text = /[ \t\r\n]/.test(sent) ? sent.replace(/[ \t\r\n]+/g, '') : sent;
  if (text.length === 0 || text.length % 4 !== 0) return false;
  const first = text.search(NOT_BASE64);
  return first < 0 || (first >= text.length - 2 && text.slice(first) === '=='.slice(first - text.length));
}

/** Whether a text is an OID as a URN. https://hl7.org/fhir/R5/datatypes.html#oid */
export function isOid(text: string): boolean {
  return /^urn:oid:[0-2]\.[.0-9]*$/.test(text) && !/\.(?:\.|0[0-9]|$)/.test(text);
}
