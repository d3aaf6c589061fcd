import type { JsonObject, JsonValue, Resource } from '../../fhir/resource.js';
import { labelsIn } from '../labels.js';
import { IDENTIFIER_TYPES, PROFILES } from '../mhd.js';

/** Why a document that replaces another is refused: which one that is only a DocumentReference can say. */
export const REPLACES =
  'A document that replaces another is published by its DocumentReference, whose relatesTo names that';

/** Facts that the header of a structured document states. Absent: the header is silent. */
export interface DocumentHeader {
  /** Labels and tags of the document itself. */
  readonly meta?: JsonValue | undefined;
  /** Identifier of the document. */
  readonly identifier?: JsonObject;
  readonly subject: DocumentSubject;
  /** Authors and the custodian: resources that the DocumentReference contains, or references that only name them. */
  readonly authors: readonly JsonObject[];
  readonly custodian?: JsonObject;
  /** Elements of the DocumentReference: `type`, `category`, `period`, `securityLabel`. */
  readonly elements: JsonObject;
  /** Elements of the attachment: `title`, `creation`, `language`. */
  readonly attachment: JsonObject;
}

/** The patient of a document, by what the document knows of them. */
export interface DocumentSubject {
  /** Patients that the document is about; of several none is taken. */
  readonly count: number;
  /** Reference to a patient, which may be of this server. */
  readonly reference?: string;
  /** Whether the patient is in the document, so that a reference of another server says nothing of who it is here. */
  readonly isEnclosed?: true;
  readonly identifiers: readonly JsonObject[];
  /** Where the document names its patient, in words. */
  readonly at: string;
}

/**
 * Returns the DocumentReference that the header of a document amounts to, which brings the document. IHE MHD 5.1.0, 2:3.106.4.1.3
 *
 * @param attachment media type and bytes of the document, in base64
 * @param subject reference to the patient
 * @param sent `meta` of the resource that brought the document: labels and tags decide who may see what is made of it
 */
export function referenceFrom(
  header: DocumentHeader,
  attachment: JsonObject,
  subject: string,
  sent: JsonValue | undefined,
): Resource {
  const { identifier, authors, custodian, elements } = header;
  const contained: Resource[] = [];
  const refer = (party: JsonObject): JsonObject => {
    if (party['resourceType'] === undefined) return party;
    const id = `party-${contained.length + 1}`;
    contained.push({ ...party, id } as unknown as Resource);
    return { reference: `#${id}` };
  };
  const author = authors.map(refer);
  const custodianReference = custodian === undefined ? undefined : refer(custodian);
  const type = { coding: [{ system: IDENTIFIER_TYPES, code: 'uniqueId' }] };
  return {
    resourceType: 'DocumentReference',
    meta: { profile: [PROFILES.minimalReference], ...labelsIn([sent, header.meta]) },
    ...(contained.length > 0 && { contained }),
    ...(identifier !== undefined && { identifier: [{ ...identifier, type }] }),
    status: 'current',
    ...elements,
    subject: { reference: subject },
    ...(author.length > 0 && { author }),
    ...(custodianReference !== undefined && { custodian: custodianReference }),
    content: [{ attachment: { ...attachment, ...header.attachment } }],
  };
}
