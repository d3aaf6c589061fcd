import { createHash } from 'node:crypto';

import { FhirError, type Issue } from '../fhir/errors.js';
import type { JsonObject, JsonValue, Resource } from '../fhir/resource.js';
import { readJson } from '../format/read-json.js';
import { decodeUtf8 } from '../format/utf8.js';
import { readXml } from '../format/xml/read-xml.js';
import { decodeData, isMediaType } from '../core/binary/binary-content.js';
import type { Call } from '../core/call.js';
import type { Services } from '../core/services.js';
import { checkResource } from '../core/write/check-resource.js';
import { validateWritten } from '../core/write/validate-written.js';
import { elementsAt, textOf } from './elements.js';
import { refusal } from './refusal.js';
import { fault } from './rules.js';

/** The document in a DocumentReference that is published. */
export interface SentDocument {
  readonly contentType: string;
  readonly bytes: Buffer;
  /** SHA-1, in base64. */
  readonly hash: string;
  /** The document as a resource, where it is one of FHIR. */
  readonly bundle?: Resource;
}

const ATTACHMENT = 'DocumentReference.content[0].attachment';

/** Reads a FHIR document, by its media type without parameters. */
const READERS: ReadonlyMap<string, (bytes: Buffer, services: Services) => unknown> = new Map<
  string,
  (bytes: Buffer, services: Services) => unknown
>([
  ['application/fhir+json', (bytes) => readJson(decodeUtf8(bytes))],
  ['application/fhir+xml', (bytes, { tables }) => readXml(bytes, tables)],
]);

/**
 * Returns what the bytes of a FHIR document say, unchecked. Undefined: the media type is not one of FHIR.
 *
 * @throws FhirError as the readers of JSON and XML
 */
export function readFhirDocument(contentType: string, bytes: Buffer, services: Services): unknown {
  return READERS.get(essenceOf(contentType))?.(bytes, services);
}

/**
 * The document that a DocumentReference brings, whose hash and size are those that it says.
 *
 * @throws FhirError `structure` for what is no base64, `publication-invalid`, `document-invalid`, `resource-too-large`
 */
export async function readSentDocument(resource: Resource, call: Call, services: Services): Promise<SentDocument> {
  const [attachment] = elementsAt(resource, ['content', 'attachment']);
  const element = (attachment?.element ?? {}) as JsonObject;
  const bytes = decodeSent(element['data']);
  const [wrong] = faultsOfBytes(element, bytes, ATTACHMENT);
  if (wrong !== undefined) throw FhirError.of([wrong]);
  const contentType = textOf(attachment?.element, 'contentType') ?? '';
  if (!isMediaType(contentType)) {
    const text = `${ATTACHMENT}.contentType: it is no media type`;
    throw refusal('publication-invalid', 'XDSRegistryMetadataError', text, `${ATTACHMENT}.contentType`);
  }
  const read = READERS.get(essenceOf(contentType));
  const hash = sha1(bytes);
  if (read === undefined) return { contentType, bytes, hash };
  if (bytes.length > services.limits.resource) {
    const text = `A FHIR document may have ${services.limits.resource} bytes`;
    throw new FhirError('resource-too-large', text, { expression: `${ATTACHMENT}.data` });
  }
  const bundle = await inElement(async () => {
    const { id: _id, ...rest } = checkResource(read(bytes, services) as Resource, 'Bundle', notABundle);
    if (rest['type'] !== 'document') throw new FhirError('document-invalid', 'Bundle.type has to be document');
    const { text: _text, ...withoutText } = call;
    await validateWritten(rest as Resource, withoutText, services);
    return rest as Resource;
  });
  return { contentType, bytes, hash, bundle };
}

/** Returns what an attachment says of its document that is not so: its size, its hash. @param at where the attachment is */
export function faultsOfBytes({ size, hash }: JsonObject, bytes: Buffer, at: string): readonly Issue[] {
  const isSize = size === undefined || (typeof size !== 'object' && String(size) === String(bytes.length));
  const isHash = hash === undefined || hash === sha1(bytes);
  const code = 'XDSRepositoryMetadataError';
  return [
    ...(isSize ? [] : [fault(`${at}.size`, `the document has ${bytes.length} bytes`, code)]),
    ...(isHash ? [] : [fault(`${at}.hash`, 'it is not the SHA-1 of the document, in base64', code)]),
  ];
}

function sha1(bytes: Buffer): string {
  return createHash('sha1').update(bytes).digest('base64');
}

function notABundle(type: string): string {
  return `A FHIR document is a Bundle of type document, not ${type}`;
}

/** A media type without its parameters. */
function essenceOf(contentType: string): string {
  return (contentType.split(';', 1)[0] ?? '').trim().toLowerCase();
}

/** @throws FhirError `structure` */
function decodeSent(data: JsonValue | undefined): Buffer {
  try {
    return decodeData(data) ?? Buffer.alloc(0);
  } catch (error) {
    if (!(error instanceof FhirError)) throw error;
    const expression = `${ATTACHMENT}.data`;
    throw FhirError.of([{ code: 'structure', text: `${expression} has to be base64`, expression }]);
  }
}

/** Reports what is wrong with the document at the element that holds it. */
export async function inElement<T>(work: () => Promise<T>): Promise<T> {
  try {
    return await work();
  } catch (error) {
    if (!(error instanceof FhirError) || error.status >= 500) throw error;
    throw error.map(({ code, detail = code, expression, ...rest }) => ({
      ...rest,
      ...{ code: 'document-invalid', detail, sharing: 'InvalidDocumentContent' },
      ...(expression !== undefined && { text: `${rest.text} (${expression})` }),
      expression: `${ATTACHMENT}.data`,
    }));
  }
}
