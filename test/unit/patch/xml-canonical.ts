import { XmlDocument } from 'libxml2-wasm';

/**
 * The canonical form of a document, comments included: one text for all forms of it that XML does not tell apart.
 * https://www.w3.org/TR/xml-c14n
 */
export function canonical(text: string): string {
  const document = XmlDocument.fromString(text);
  try {
    return document.canonicalizeToString({ withComments: true });
  } finally {
    document.dispose();
  }
}
