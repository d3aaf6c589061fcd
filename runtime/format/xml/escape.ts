import { unwritableAt } from '../../fhir/xml/xml-characters.js';

/** The namespace of FHIR. https://hl7.org/fhir/R5/xml.html */
export const FHIR_NAMESPACE = 'http://hl7.org/fhir';
/** Where escaping or looking closer is needed; astral characters come as pairs of surrogates. */
// eslint-disable-next-line no-control-regex
const SPECIAL = /[&<>"\u0000-\u001f\ud800-\udfff\ufffe\uffff]/;
/** White space, because an XML processor would make plain spaces of it, and `\r\n` a line feed anywhere. */
const ESCAPED = /[&<>"\t\n\r]/g;
const ESCAPES: Readonly<Record<string, string>> = {
  '&': '&amp;',
  '<': '&lt;',
  '>': '&gt;',
  '"': '&quot;',
  '\t': '&#9;',
  '\n': '&#10;',
  '\r': '&#13;',
};

/**
 * Text as the value of an attribute in double quotes, from which a reader gets exactly this text back; or undefined
 * where XML cannot hold it.
 */
export function escapeAttribute(text: string): string | undefined {
  if (!SPECIAL.test(text)) return text;
  if (unwritableAt(text) >= 0) return undefined;
  return text.replace(ESCAPED, (character) => ESCAPES[character]!);
}

/** Text as the content of an element; it has to be such as XML can hold. */
export function escapeText(text: string): string {
  return text.replace(/[&<>\r]/g, (character) => ESCAPES[character]!);
}
