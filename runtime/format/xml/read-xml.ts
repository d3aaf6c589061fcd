import { MAX_DEPTH } from '../read-json.js';
import { decodeUtf8 } from '../utf8.js';
import type { Resource } from '../../fhir/resource.js';
import { checkText } from './check-text.js';
import { elementIndex, type FormatTables } from './element-index.js';
import { openParser, XmlRefusal } from './open-parser.js';
import { ResourceBuilder } from './resource-builder.js';
import { refusalIssue, XmlError, xmlIssue } from './xml-error.js';

/** Limits of a reading. */
export interface XmlLimits {
  /** Greatest depth, counted as in the JSON of the resource (objects and arrays); narratives have their own. */
  readonly maxDepth?: number;
  /** Greatest size: bytes, or UTF-16 code units of a text. */
  readonly maxSize?: number;
  /** How many issues are reported at most; reading ends with the last of them. */
  readonly maxIssues?: number;
  /** Takes elements in any order: what an XML Patch makes is no document that anyone sees. */
  readonly anyOrder?: boolean;
}

const MAX_SIZE = 50_000_000;
const MAX_ISSUES = 100;

/**
 * Reads a resource from XML: the same JSON tree that the JSON reader gives, numbers with their text. What JSON could not
 * hold is refused here, each fault with line, column and FHIRPath; the rest (patterns, cardinality, bindings) is left to
 * the validator. Elements come in the order of their definition. DOCTYPE and entities other
 * than XML's own are refused. Comments and processing instructions (`xml-stylesheet`) are skipped outside of narratives.
 * https://hl7.org/fhir/R5/xml.html
 *
 * @throws FhirError With an issue for each fault (of `XML_CODES`), or `json-encoding` for bytes that are not UTF-8
 */
export function readXml(source: string | Uint8Array, tables: FormatTables, limits: XmlLimits = {}): Resource {
  const { maxDepth = MAX_DEPTH, maxSize = MAX_SIZE, maxIssues = MAX_ISSUES, anyOrder = false } = limits;
  if (source.length > maxSize) throw new XmlError([xmlIssue('size', `The body is larger than ${maxSize} bytes`)]);
  const text = typeof source === 'string' ? source : decodeUtf8(asBuffer(source));
  const parser = openParser({}, () => !builder.isInNarrative);
  const builder = new ResourceBuilder(text, elementIndex(tables), parser, maxDepth, maxIssues, anyOrder);
  try {
    checkText(text);
    parser.on('opentag', (tag) => builder.open(tag));
    parser.on('closetag', () => builder.close());
    parser.on('text', (characters) => builder.text(characters));
    parser.on('cdata', (characters) => builder.text(characters));
    parser.write(text).close();
  } catch (error) {
    if (!(error instanceof XmlRefusal)) throw error;
    throw builder.failure(refusalIssue(error, text));
  }
  return builder.result();
}

function asBuffer(bytes: Uint8Array): Buffer {
  return Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength);
}
