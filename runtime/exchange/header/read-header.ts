import { decodeData } from '../../core/binary/binary-content.js';
import { parsedBodyOf } from '../../core/write/parsed-bodies.js';
import type { Services } from '../../core/services.js';
import { refuse } from '../../core/write/validate-resource.js';
import { FhirError } from '../../fhir/errors.js';
import { isObject, type JsonObject, type JsonValue, type Resource } from '../../fhir/resource.js';
import { writeJson } from '../../format/write-json.js';
import { textOf } from '../elements.js';
import { refusal } from '../refusal.js';
import { documentFormat, readFhirDocument } from '../sent-document.js';
import { MOST_OF_HEADER, readCdaHeader } from './cda-header.js';
import { readCompositionHeader } from './composition-header.js';
import type { DocumentHeader } from './document-header.js';

/** A document with its header. */
export interface StructuredDocument {
  readonly header: DocumentHeader;
  /** Media type and bytes of the document, as an attachment has them. */
  readonly attachment: JsonObject;
}

/** Characters of what a header amounts to: the main thread works on it. */
const MOST = 256 * 1024;

const AT = "Parameters.parameter.where(name = 'document').resource";

/**
 * Reads the header of a document: of a Bundle of type `document`, or of a Binary that holds one or a CDA document.
 *
 * @throws FhirError `document-invalid` for what has no header that can be read
 */
export async function readHeader(document: Resource, services: Services): Promise<StructuredDocument> {
  if (document['securityContext'] !== undefined)
    throw invalid(
      'A Binary with a securityContext is stored by a request of its own: what is made of it would show more',
    );
  if (document.resourceType === 'Bundle') {
    const data = Buffer.from(writeJson(document)).toString('base64');
    const header = await inDocument(() => headerOfBundle(document));
    return { header, attachment: { contentType: 'application/fhir+json', data } };
  }
  const contentType = textOf(document, 'contentType') ?? '';
  const header = await inDocument(() => headerOfBinary(document['data'], contentType, services));
  return { header, attachment: { contentType, data: document['data'] ?? '' } };
}

async function headerOfBinary(
  data: JsonValue | undefined,
  contentType: string,
  services: Services,
): Promise<DocumentHeader> {
  if (typeof data !== 'string') throw invalid('The Binary has no data');
  const format = documentFormat(contentType);
  if (format !== undefined) {
    const bytes = decodeData(data) ?? Buffer.alloc(0);
    return headerOfBundle(await readFhirDocument(bytes, format, services));
  }
  const header = /xml/i.test(contentType) ? readCdaHeader(startOf(data)) : undefined;
  if (header !== undefined) return header;
  const wanted =
    'a ClinicalDocument as text/xml or another XML media type, or a FHIR document as application/fhir+json or +xml';
  throw invalid(`There is no header to read in what is sent as ${contentType}: send ${wanted}`);
}

/** The text with which base64 begins, as far as a header may reach. What is no base64 or UTF-8 is refused when it is published. */
function startOf(data: string): string {
  const bytes = Buffer.from(data.slice(0, Math.ceil(MOST_OF_HEADER / 3) * 4), 'base64');
  return new TextDecoder('utf-8', { fatal: true }).decode(bytes, { stream: true });
}

function headerOfBundle(bundle: JsonValue): DocumentHeader {
  // Of a large one with faults there is no more than its head.
  if (isObject(bundle)) refuse(parsedBodyOf(bundle as Resource)?.faults ?? []);
  const isDocument = isObject(bundle) && bundle['resourceType'] === 'Bundle' && bundle['type'] === 'document';
  if (!isDocument) throw invalid('A FHIR document is a Bundle of type document');
  const header = readCompositionHeader(bundle as Resource);
  if (header === undefined) throw invalid('The first entry of a FHIR document is its Composition');
  const { meta: _meta, ...made } = header;
  if (JSON.stringify(made).length > MOST) throw invalid(`The header of a document may have ${MOST} characters`);
  return header;
}

/** Reports what cannot be read as a fault of the document. */
async function inDocument<T>(read: () => T | Promise<T>): Promise<T> {
  try {
    return await read();
  } catch (error) {
    if (error instanceof TypeError) throw invalid('The document is not encoded as UTF-8');
    if (!(error instanceof FhirError) || error.issues[0].expression === AT) throw error;
    throw invalid(error.issues[0].text);
  }
}

function invalid(text: string): FhirError {
  return refusal('document-invalid', 'InvalidDocumentContent', text, AT);
}
