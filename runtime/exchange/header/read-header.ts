import { decodeData } from '../../core/binary/binary-content.js';
import type { Services } from '../../core/services.js';
import { FhirError } from '../../fhir/errors.js';
import { isObject, type JsonObject, type JsonValue, type Resource } from '../../fhir/resource.js';
import { decodeUtf8 } from '../../format/utf8.js';
import { writeJson } from '../../format/write-json.js';
import { textOf } from '../elements.js';
import { refusal } from '../refusal.js';
import { readFhirDocument } from '../sent-document.js';
import { readCdaHeader } from './cda-header.js';
import { readCompositionHeader } from './composition-header.js';
import type { DocumentHeader } from './document-header.js';

/** A document with its header. */
export interface StructuredDocument {
  readonly header: DocumentHeader;
  /** Media type and bytes of the document, as an attachment has them. */
  readonly attachment: JsonObject;
}

const AT = "Parameters.parameter.where(name = 'document').resource";

/**
 * Reads the header of a document: of a Bundle of type `document`, or of a Binary that holds one or a CDA document.
 *
 * @throws FhirError `document-invalid` for what has no header that can be read
 */
export function readHeader(document: Resource, services: Services): StructuredDocument {
  if (document.resourceType === 'Bundle') {
    const data = Buffer.from(writeJson(document)).toString('base64');
    return { header: headerOfBundle(document), attachment: { contentType: 'application/fhir+json', data } };
  }
  const contentType = textOf(document, 'contentType') ?? '';
  const header = inDocument(() => headerOfBytes(decodeData(document['data']), contentType, services));
  return { header, attachment: { contentType, data: document['data'] ?? '' } };
}

function headerOfBytes(bytes: Buffer | undefined, contentType: string, services: Services): DocumentHeader {
  if (bytes === undefined) throw invalid('The Binary has no data');
  if (/^application\/fhir/i.test(contentType) && bytes.length > services.limits.resource)
    throw invalid(`A FHIR document may have ${services.limits.resource} bytes`);
  const read = readFhirDocument(contentType, bytes, services) as JsonValue | undefined;
  if (read !== undefined) return headerOfBundle(read);
  const header = /xml/i.test(contentType) ? readCdaHeader(decodeUtf8(bytes)) : undefined;
  if (header !== undefined) return header;
  throw invalid(`${contentType} with no ClinicalDocument has no header; a CDA or FHIR document is needed`);
}

function headerOfBundle(bundle: JsonValue): DocumentHeader {
  const isDocument = isObject(bundle) && bundle['resourceType'] === 'Bundle' && bundle['type'] === 'document';
  if (!isDocument) throw invalid('A FHIR document is a Bundle of type document');
  const header = readCompositionHeader(bundle as Resource);
  if (header === undefined) throw invalid('The first entry of a FHIR document is its Composition');
  return header;
}

/** Reports what cannot be read as a fault of the document. */
function inDocument<T>(read: () => T): T {
  try {
    return read();
  } catch (error) {
    if (!(error instanceof FhirError) || error.code === 'document-invalid') throw error;
    throw invalid(error.issues[0].text);
  }
}

function invalid(text: string): FhirError {
  return refusal('document-invalid', 'InvalidDocumentContent', text, AT);
}
