import { SaxesParser, type SaxesTagNS } from 'saxes';

/** A parser that knows namespaces. */
export type XmlParser = SaxesParser<{ xmlns: true }>;

/** An element with its namespaces resolved. */
export type XmlTag = SaxesTagNS;

/** Greatest number of attributes of an element: nothing of FHIR or XHTML has nearly as many, and elements that do are slow. */
const MAX_ATTRIBUTES = 1000;

/** Error with which the parser ends the reading of a text. */
export class XmlRefusal extends Error {
  constructor(
    readonly fault: 'syntax' | 'forbidden' | 'depth',
    text: string,
    /** Where in the text, in UTF-16 code units from 0. */
    readonly at: number,
  ) {
    super(text);
  }
}

/**
 * A parser for XML 1.0 that throws `XmlRefusal` at what is not well-formed and at all that FHIR has no use for and
 * attackers have: DOCTYPE (and so entities other than XML's five). Comments are skipped.
 * https://hl7.org/fhir/R5/security.html#xml
 *
 * @param namespaces What prefixes mean from outside, for a piece of a document
 * @param skipsInstructions whether processing instructions are skipped where the parser is; otherwise they are refused
 */
export function openParser(
  namespaces: Readonly<Record<string, string>> = {},
  skipsInstructions: () => boolean = () => false,
): XmlParser {
  const parser: XmlParser = new SaxesParser({ xmlns: true, additionalNamespaces: namespaces });
  const refuse = (fault: XmlRefusal['fault'], text: string): never => {
    throw new XmlRefusal(fault, text, Math.max(0, parser.position - 1));
  };
  parser.on('error', (error) => refuse('syntax', error.message.replace(/^\d+:\d+: /, '').replace(/\.$/, '')));
  let attributes = 0;
  parser.on('opentagstart', () => (attributes = 0));
  parser.on('attribute', () => {
    if (++attributes > MAX_ATTRIBUTES) refuse('forbidden', `an element has more than ${MAX_ATTRIBUTES} attributes`);
  });
  parser.on('doctype', () => refuse('forbidden', 'a DOCTYPE is not allowed'));
  parser.on('processinginstruction', () => {
    if (!skipsInstructions()) refuse('forbidden', 'processing instructions are not allowed in a narrative');
  });
  parser.on('xmldecl', ({ version, encoding }) => {
    if (version !== '1.0') refuse('syntax', `XML has to be of version 1.0, not ${version}`);
    if (encoding !== undefined && !/^utf-8$/i.test(encoding)) {
      refuse('syntax', `XML has to be in UTF-8, not ${encoding.slice(0, 40)}`);
    }
  });
  return parser;
}
