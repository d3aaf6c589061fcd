import { FhirError } from '../../fhir/errors.js';
import { isObject, type JsonValue, type Resource } from '../../fhir/resource.js';
import { readJson } from '../../format/read-json.js';
import { decodeUtf8 } from '../../format/utf8.js';
import type { SourceDocument } from './document.js';

/** Reads XML as a resource; undefined where it is XML of another kind. */
export type XmlReader = (text: string) => Promise<Resource | undefined> | Resource | undefined;

/**
 * The resource in a document, or undefined where a file of a folder holds something else.
 *
 * @param readXml absent: XML is refused
 * @throws FhirError for the reader of the report
 */
export async function parseDocument(
  { format, bytes, named }: SourceDocument,
  readXml?: XmlReader,
): Promise<Resource | undefined> {
  if (format === 'xml' && readXml === undefined) {
    throw new FhirError('unsupported-media-type', 'XML cannot be loaded yet, only JSON and NDJSON');
  }
  const text = decodeUtf8(bytes);
  const value: JsonValue | undefined = format === 'xml' ? await readXml?.(text) : readJson(text);
  if (isObject(value) && typeof value['resourceType'] === 'string') return value as Resource;
  if (named) throw new FhirError('not-a-resource', 'not a resource: there is no resourceType');
  return undefined;
}
