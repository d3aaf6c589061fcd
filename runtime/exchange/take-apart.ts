import { isObject, type JsonObject, type JsonValue, type Resource } from '../fhir/resource.js';
import { formatInstant } from '../fhir/instant.js';
import { hasCode, objectsOf, textOf } from './elements.js';
import { EXTENSIONS, IDENTIFIER_TYPES, LIST_TYPES, PROFILES, URI_SYSTEM } from './mhd.js';
import { isPublishProfile } from './publish-rules.js';
import type { SentDocument } from './sent-document.js';

/** Where the document of a publication is stored, and what the server adds. */
export interface Placement {
  /** Absolute URL of the document. */
  readonly url: string;
  /** Identifier of the document, where it was sent without one. */
  readonly uniqueId: string;
}

/** The DocumentReference as it is stored: its document taken out. @param subject reference to the patient that a logical one means */
export function storedReference(
  sent: Resource,
  document: SentDocument,
  { url, uniqueId }: Placement,
  subject?: string,
): Resource {
  const content = withoutDocument(sent, document, url);
  return {
    ...sent,
    ...(isObject(sent['meta']) && { meta: storedMeta(sent['meta']) }),
    identifier: withUniqueId(sent, uniqueId),
    ...(subject !== undefined && isObject(sent['subject']) && { subject: { ...sent['subject'], reference: subject } }),
    ...(content !== undefined && { content }),
  };
}

/** Returns a DocumentReference whose documents on this server have absolute URLs; of another type the resource as it is. */
export function withAbsoluteUrls(resource: Resource, base: string): Resource {
  const { content } = resource;
  if (resource.resourceType !== 'DocumentReference' || !Array.isArray(content)) return resource;
  return {
    ...resource,
    content: content.map((each) => {
      const attachment = isObject(each) ? each['attachment'] : undefined;
      const url = textOf(attachment, 'url');
      if (!isObject(each) || !isObject(attachment) || url === undefined || !/^(?:Binary|Bundle)\//.test(url))
        return each;
      return { ...each, attachment: { ...attachment, url: `${base}/${url}` } };
    }),
  };
}

/** The content that leads to the document. Undefined: it has another form than its type, for which it is refused as it was sent. */
function withoutDocument(sent: Resource, document: SentDocument, url: string): JsonValue | undefined {
  if (!Array.isArray(sent['content'])) return undefined;
  const [content, ...others] = sent['content'];
  if (!isObject(content) || !isObject(content['attachment'])) return undefined;
  const { data: _data, _data: _dataToo, ...attachment } = content['attachment'];
  const { size: _size, _size: _sizeToo, hash: _hash, _hash: _hashToo, ...described } = attachment;
  // A document Bundle is written anew in each format, so that no hash or size holds.
  const kept =
    document.bundle === undefined
      ? { ...attachment, size: String(document.bytes.length), hash: document.hash }
      : described;
  return [{ ...content, attachment: { ...kept, url } }, ...others];
}

/** What claims to be a publication is, once stored, a document of the minimal profile. */
function storedMeta(meta: JsonObject): JsonObject {
  const { profile } = meta;
  if (!Array.isArray(profile)) return meta;
  const claims = profile.map((claim) =>
    isPublishProfile(claim) ? claim.replace(PROFILES.simplifiedPublish, PROFILES.minimalReference) : claim,
  );
  return { ...meta, profile: [...new Set(claims)] };
}

function withUniqueId(sent: Resource, uniqueId: string): JsonValue {
  const { identifier: identifiers = [] } = sent;
  if (!Array.isArray(identifiers)) return identifiers;
  const isThere = objectsOf(sent, 'identifier').some(({ type }) => hasCode(type, IDENTIFIER_TYPES, 'uniqueId'));
  if (isThere) return identifiers;
  const type = { coding: [{ system: IDENTIFIER_TYPES, code: 'uniqueId' }] };
  return [...identifiers, { type, system: URI_SYSTEM, value: uniqueId }];
}

/** The SubmissionSet of a published document. IHE MHD 5.1.0, 2:3.105.4.1.3 */
export function submissionSetOf(reference: Resource, id: string, source: JsonObject): Resource {
  const { subject } = reference;
  const type = plainConcept(reference['type']);
  return {
    resourceType: 'List',
    meta: { profile: [PROFILES.minimalSubmissionSet] },
    extension: [
      { url: EXTENSIONS.sourceId, valueIdentifier: source },
      ...(type === undefined ? [] : [{ url: EXTENSIONS.designationType, valueCodeableConcept: type }]),
    ],
    status: 'current',
    mode: 'working',
    code: { coding: [{ system: LIST_TYPES, code: 'submissionset' }] },
    ...(subject !== undefined && { subject: [picked(subject, ['reference', 'type', 'display'])] }),
    date: formatInstant(Date.now()),
    entry: [{ item: { reference: `DocumentReference/${id}` } }],
  };
}

/** A concept without extensions, which may refer to what the DocumentReference contains. */
function plainConcept(concept: JsonValue | undefined): JsonObject | undefined {
  const coding = objectsOf(concept, 'coding').map((each) => picked(each, ['system', 'version', 'code', 'display']));
  const plain = { ...(coding.length > 0 && { coding }), ...picked(concept, ['text']) };
  return Object.keys(plain).length === 0 ? undefined : plain;
}

function picked(value: JsonValue | undefined, names: readonly string[]): JsonObject {
  return isObject(value) ? Object.fromEntries(Object.entries(value).filter(([name]) => names.includes(name))) : {};
}
