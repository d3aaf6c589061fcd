import { XHTML_NAMESPACE } from '../../fhir/xml/xhtml.js';
import type { Property } from './element-index.js';
import type { XmlTag } from './open-parser.js';
import { standaloneXhtml, xhtmlTagFault } from './xhtml.js';

/**
 * Follows the XHTML of a narrative through a document and cuts out its text. What JSON has is the text verbatim, so
 * that a narrative that goes from JSON to XML and back stays as it was, to the character.
 * https://hl7.org/fhir/R5/narrative.html
 */
export class NarrativeReader {
  /** How many of its elements are open. */
  depth = 0;
  private readonly namespaces: Record<string, string> = Object.create(null) as Record<string, string>;
  /** Whether its text means the same when it is cut out, and has no prefixes. */
  private standsAlone = true;
  private isFaulty = false;

  constructor(
    readonly property: Property,
    /** Where it begins. */
    private readonly start: number,
  ) {}

  /** Takes a start tag; gives what is wrong with it, for the first faulty one only. */
  open(tag: XmlTag): string | undefined {
    this.depth++;
    if (this.isFaulty) return undefined;
    if (this.depth === 1 && tag.attributes['xmlns'] === undefined) this.standsAlone = false;
    if (tag.prefix !== '') this.standsAlone = false;
    this.namespaces[tag.prefix] = XHTML_NAMESPACE;
    const fault = xhtmlTagFault(tag);
    this.isFaulty = fault !== undefined;
    return fault;
  }

  /** Takes an end tag; gives the text when it is that of the div itself. */
  close(source: string, end: number): string | undefined {
    this.depth--;
    if (this.depth > 0) return undefined;
    const text = source.slice(this.start, end);
    return this.standsAlone || this.isFaulty ? text : standaloneXhtml(text, this.namespaces);
  }
}
