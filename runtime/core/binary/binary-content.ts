import { FhirError } from '../../fhir/errors.js';
import { newId } from '../../fhir/id.js';
import { isObject, type JsonObject, type JsonValue, type Resource } from '../../fhir/resource.js';
import { writeJson } from '../../format/write-json.js';
import type { BlobStore } from '../../store/store.js';
import type { ReplyContent } from '../call.js';

/** The resource type whose content is bytes. https://hl7.org/fhir/R5/binary.html */
export const BINARY = 'Binary';

/** Extension on `Binary.data` that points to the blob with the content. */
const BLOB_EXTENSION = 'urn:kiln:blob';

/** Points to the blob with the content of one version. */
export interface Pointer {
  /** Last part of the blob's key. The id of the Binary precedes it, so that no other resource can refer to the blob. */
  readonly name: string;
  readonly size: number;
  readonly sha256: string;
}

/** Prefix of the blob keys of all Binary contents. */
export const BLOB_PREFIX = 'binary/';

/** Key of a blob. The "=" before the id keeps an id such as ".." from having a meaning in a file system. */
export function blobKey(id: string, name: string): string {
  return `${BLOB_PREFIX}=${id}/${name}`;
}

/** Id of the Binary whose content a blob is. */
export function idOfBlob(key: string): string | undefined {
  return /^binary\/=([^/]+)\/[^/]+$/.exec(key)?.[1];
}

/** Puts content into a new blob. When that fails, no blob remains. */
export async function storeContent(
  blobs: BlobStore,
  id: string,
  content: AsyncIterable<Uint8Array>,
  limit: number,
): Promise<Pointer> {
  const name = newId();
  const { size, sha256 } = await blobs.put(blobKey(id, name), content, limit);
  return { name, size, sha256 };
}

/** The resource without `data`, its pointer added to the extensions that the client put into `_data`. */
export function withPointer(resource: Resource, pointer: Pointer | undefined): Resource {
  const { data: _data, ...rest } = resource;
  if (pointer === undefined) return rest as Resource;
  const parts: JsonObject[] = [
    { url: 'name', valueString: pointer.name },
    { url: 'size', valueInteger64: String(pointer.size) },
    { url: 'sha256', valueString: pointer.sha256 },
  ];
  const own = isObject(resource['_data']) ? resource['_data'] : {};
  const extension = [...list(own, 'extension'), { url: BLOB_EXTENSION, extension: parts }];
  return { ...rest, _data: { ...own, extension } } as Resource;
}

/** A stored resource as the client sent it, without the content. */
export function withoutPointer(resource: Resource): Resource {
  if (pointerOf(resource) === undefined) return resource;
  const { _data, ...rest } = resource;
  const { extension: _all, ...own } = _data as JsonObject;
  const others = list(_data, 'extension').filter(({ url }) => url !== BLOB_EXTENSION);
  const remaining = { ...own, ...(others.length === 0 ? {} : { extension: others }) };
  return { ...rest, ...(Object.keys(remaining).length === 0 ? {} : { _data: remaining }) } as Resource;
}

/**
 * Rejects a resource from a client that has a pointer: it could point to the content of another Binary.
 *
 * @throws FhirError `structure`
 */
export function refusePointer(resource: Resource): void {
  const at = list(resource['_data'], 'extension').findIndex(({ url }) => url === BLOB_EXTENSION);
  if (at < 0) return;
  const text = `the extension ${BLOB_EXTENSION} is the server's own; send the content in "data", or leave it out`;
  const expression = `${BINARY}.data.extension[${at}]`;
  throw new FhirError('structure', `${expression}: ${text}`, { expression });
}

/** The pointer of a stored resource; undefined if the content is in the resource itself, or there is none. */
export function pointerOf(resource: Resource): Pointer | undefined {
  const [blob] = list(resource['_data'], 'extension').filter(({ url }) => url === BLOB_EXTENSION);
  if (blob === undefined) return undefined;
  const parts = new Map(list(blob, 'extension').map((part) => [part['url'], part]));
  const name = parts.get('name')?.['valueString'];
  const size = Number(parts.get('size')?.['valueInteger64']);
  const sha256 = parts.get('sha256')?.['valueString'];
  if (typeof name !== 'string' || typeof sha256 !== 'string' || !Number.isSafeInteger(size)) return undefined;
  return { name, size, sha256 };
}

/** JSON text of a stored resource with a pointer, split where the content goes as base64. */
export function splitAtContent(resource: Resource): { readonly head: string; readonly tail: string } {
  return { head: `${writeJson(withoutPointer(resource)).slice(0, -1)},"data":"`, tail: '"}' };
}

/** The content of a stored resource, from its blob or its `data`. */
export function contentOf(resource: Resource, id: string, blobs: BlobStore): ReplyContent {
  const head = { contentType: contentType(resource), ...securityContext(resource) };
  const pointer = pointerOf(resource);
  if (pointer === undefined) {
    const data = resource['data'];
    const bytes = Buffer.from(typeof data === 'string' ? data : '', 'base64');
    return {
      ...head,
      size: bytes.length,
      open: async (range) => once(range === undefined ? bytes : cut(bytes, range)),
    };
  }
  return {
    ...head,
    size: pointer.size,
    async open(range) {
      const blob = await blobs.get(blobKey(id, pointer.name), range);
      if (blob === undefined) throw new Error(`the content of ${BINARY}/${id} is missing`);
      return blob.stream;
    },
  };
}

/** Greatest size of what an entry of a Bundle has in a Binary instead of a resource: a form or a patch. In bytes. */
const MOST_ENCLOSED = 1024 * 1024;

/** The bytes of a form or a patch in an entry of a Bundle. @param name what they are, for the message. @throws FhirError as `decodeData`, `body-too-large` */
export function decodeEnclosed(data: JsonValue | undefined, name: string): Buffer | undefined {
  if (typeof data === 'string' && data.length > (MOST_ENCLOSED * 4) / 3) {
    throw new FhirError('body-too-large', `A ${name} in a ${BINARY} may have ${MOST_ENCLOSED} bytes`, {
      expression: `${BINARY}.data`,
    });
  }
  return decodeData(data);
}

/**
 * The bytes of `data` from a client, which may have white space in it; undefined if there is none.
 *
 * @throws FhirError `structure`
 */
export function decodeData(data: JsonValue | undefined): Buffer | undefined {
  if (data === undefined) return undefined;
  const bytes = typeof data === 'string' ? decodeBase64(hasSpace(data) ? data.replace(/\s+/g, '') : data) : undefined;
  if (bytes === undefined) {
    throw new FhirError('structure', `${BINARY}.data has to be base64`, { expression: `${BINARY}.data` });
  }
  return bytes;
}

/** Undefined: it is none, or empty. A regular expression over 50 MB would take the main thread longer than decoding does. */
function decodeBase64(text: string): Buffer | undefined {
  const bytes = Buffer.from(text, 'base64');
  const padding = text.endsWith('==') ? 2 : text.endsWith('=') ? 1 : 0;
  // Node passes over what is no base64, and takes the alphabet for URLs.
  const isWhole = text.length % 4 === 0 && bytes.length === (text.length / 4) * 3 - padding && bytes.length > 0;
  const first = text.indexOf('=');
  const isPaddedOnce = first < 0 || first === text.length - padding;
  return isWhole && isPaddedOnce && isAscii(text) && !text.includes('-') && !text.includes('_') ? bytes : undefined;
}

function isAscii(text: string): boolean {
  return Buffer.byteLength(text) === text.length;
}

function hasSpace(text: string): boolean {
  return !isAscii(text) || [' ', '\n', '\r', '\t', '\f', '\v'].some((each) => text.includes(each));
}

/** One piece, as a stream. */
export async function* once(bytes: Uint8Array): AsyncGenerator<Uint8Array> {
  yield bytes;
}

function cut(bytes: Buffer, { from, to }: { readonly from: number; readonly to: number }): Buffer {
  return bytes.subarray(from, to + 1);
}

const MEDIA_TYPE =
  /^[\w!#$&^.+-]{1,127}\/[\w!#$&^.+-]{1,127}(?:\s*;\s*[\w!#$&^.+-]+=(?:[\w!#$&^.+:/-]+|"[\w !#$&^.+:/;,=-]*"))*$/;

/** Whether a text is valid in a `Content-Type` header. */
export function isMediaType(text: string): boolean {
  return text.length <= 512 && MEDIA_TYPE.test(text);
}

function contentType(resource: Resource): string {
  const type = resource['contentType'];
  return typeof type === 'string' && isMediaType(type) ? type : 'application/octet-stream';
}

function securityContext(resource: Resource): Pick<ReplyContent, 'securityContext'> {
  const context = resource['securityContext'];
  const reference = isObject(context) ? context['reference'] : undefined;
  return typeof reference === 'string' && /^[\x21-\x7e]{1,512}$/.test(reference) ? { securityContext: reference } : {};
}

function list(value: JsonValue | undefined, name: string): JsonObject[] {
  const items = isObject(value) ? value[name] : undefined;
  return Array.isArray(items) ? items.filter(isObject) : [];
}
