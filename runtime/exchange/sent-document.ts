import { createHash, webcrypto } from 'node:crypto';

import { FhirError, type Issue } from '../fhir/errors.js';
import type { JsonObject, JsonValue, Resource } from '../fhir/resource.js';
import type { FormatName } from '../format/negotiate.js';
import { readJson } from '../format/read-json.js';
import { decodeUtf8 } from '../format/utf8.js';
import { readXml } from '../format/xml/read-xml.js';
import { decodeData, isMediaType } from '../core/binary/binary-content.js';
import type { Call } from '../core/call.js';
import type { Services } from '../core/services.js';
import { checkResource } from '../core/write/check-resource.js';
import { LARGE_BODY } from '../core/write/large-bodies.js';
import { handOn, parsedBodyOf } from '../core/write/parsed-bodies.js';
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

/** Formats of FHIR documents, by media type without parameters. */
const FORMATS: ReadonlyMap<string, FormatName> = new Map([
  ['application/fhir+json', 'json'],
  ['application/fhir+xml', 'xml'],
]);

/** Returns the format of a FHIR document by its media type; undefined: the media type is not one of FHIR. */
export function documentFormat(contentType: string): FormatName | undefined {
  return FORMATS.get(essenceOf(contentType));
}

/**
 * Reads a FHIR document. `parsedBodyOf` returns what a worker found of a large one.
 *
 * @param bytes must not be used any more where they are many
 * @throws FhirError `resource-too-large`, and as the readers of JSON and XML
 */
export async function readFhirDocument(bytes: Buffer, format: FormatName, services: Services): Promise<JsonValue> {
  const { limits, largeTexts, tables } = services;
  if (bytes.length > limits.resource)
    throw new FhirError('resource-too-large', `A FHIR document may have ${limits.resource} bytes`);
  if (bytes.length > LARGE_BODY && largeTexts !== undefined) return largeTexts.take(bytes, format);
  return format === 'json' ? (readJson(decodeUtf8(bytes)) as JsonValue) : readXml(bytes, tables);
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
  // On a thread of Node, so that this one goes on.
  const digest = await webcrypto.subtle.digest('SHA-1', bytes);
  const hash = Buffer.from(digest).toString('base64');
  const [wrong] = faultsOfBytes(element, { size: bytes.length, hash }, ATTACHMENT);
  if (wrong !== undefined) throw FhirError.of([wrong]);
  const contentType = textOf(attachment?.element, 'contentType') ?? '';
  if (!isMediaType(contentType)) {
    const text = `${ATTACHMENT}.contentType: it is no media type`;
    throw refusal('publication-invalid', 'XDSRegistryMetadataError', text, `${ATTACHMENT}.contentType`);
  }
  const format = documentFormat(contentType);
  if (format === undefined) return { contentType, bytes, hash };
  const bundle = await inElement(async () => {
    const parsed = checkResource(await readFhirDocument(bytes, format, services), 'Bundle', notABundle);
    const { id: _id, ...rest } = parsed;
    const { text: _text, ...withoutText } = call;
    const document = handOn(parsed, rest as Resource);
    const isWhole = (parsedBodyOf(document)?.faults ?? []).length === 0;
    // Of one with faults there may be no more than its head.
    if (isWhole && document['type'] !== 'document')
      throw new FhirError('document-invalid', 'Bundle.type has to be document');
    await validateWritten(document, withoutText, services);
    return document;
  });
  return { contentType, bytes, hash, bundle };
}

/** Returns what an attachment says of its document that is not so: its size, its hash. @param at where the attachment is */
export function faultsOfBytes(
  { size, hash }: JsonObject,
  document: { readonly size: number; readonly hash: string },
  at: string,
): readonly Issue[] {
  const isSize = size === undefined || (typeof size !== 'object' && String(size) === String(document.size));
  const isHash = hash === undefined || hash === document.hash;
  const code = 'XDSRepositoryMetadataError';
  return [
    ...(isSize ? [] : [fault(`${at}.size`, `the document has ${document.size} bytes`, code)]),
    ...(isHash ? [] : [fault(`${at}.hash`, 'it is not the SHA-1 of the document, in base64', code)]),
  ];
}

/** Returns the SHA-1 of bytes, in base64. */
export function sha1(bytes: Buffer): string {
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
