import { createHash } from 'node:crypto';

const MHD = 'https://profiles.ihe.net/ITI/MHD';
export const CLAIM = `${MHD}/StructureDefinition/IHE.MHD.SimplifiedPublish.DocumentReference`;
export const STORED_CLAIM = `${MHD}/StructureDefinition/IHE.MHD.Minimal.DocumentReference`;
const TYPES = `${MHD}/CodeSystem/IHE.MHD.MHDIdentifierType`;

/** An identifier of one of the two types. */
export const identifier = (code: 'uniqueId' | 'entryUUID', value: string): object => ({
  type: { coding: [{ system: TYPES, code }] },
  system: 'urn:ietf:rfc:3986',
  value,
});

export const sha1 = (bytes: Buffer): string => createHash('sha1').update(bytes).digest('base64');

export const BYTES = Buffer.from('Hello World\r\n\u00e9');

/** The attachment of a document. */
export const attachment = (bytes: Buffer = BYTES, more: object = {}): object => ({
  contentType: 'text/plain',
  data: bytes.toString('base64'),
  ...more,
});

/** A publication that claims the profile. */
export const publication = (subject: string | object, more: object = {}): Record<string, unknown> => ({
  resourceType: 'DocumentReference',
  meta: { profile: [CLAIM] },
  identifier: [identifier('uniqueId', 'urn:oid:1.2.3')],
  status: 'current',
  subject: typeof subject === 'string' ? { reference: subject } : subject,
  content: [{ attachment: attachment() }],
  ...more,
});

const INVALID = ['publication-invalid', 'XDSRegistryMetadataError'] as const;
const CONTENT = 'DocumentReference.content[0].attachment';

/** What breaks one rule: what is changed, our code, that of IHE, and where. `claimed`: only a publication that claims the profile is refused. */
export const BROKEN: readonly {
  readonly name: string;
  readonly change: object;
  readonly code: string;
  readonly sharing: string | undefined;
  readonly at: string;
  readonly status?: number;
  readonly claimed?: true;
}[] = [
  row('no uniqueId', { identifier: [{ value: 'x' }] }, INVALID, 'identifier', { claimed: true }),
  row(
    'two uniqueIds',
    { identifier: [identifier('uniqueId', 'urn:oid:1.2'), identifier('uniqueId', 'urn:oid:1.3')] },
    INVALID,
    'identifier',
  ),
  row(
    'an entryUUID',
    { identifier: [identifier('uniqueId', 'urn:oid:1.2'), identifier('entryUUID', 'urn:uuid:1')] },
    INVALID,
    'identifier',
  ),
  row('another status', { status: 'superseded' }, INVALID, 'status'),
  row('a docStatus', { docStatus: 'final' }, INVALID, 'docStatus'),
  row(
    'a modifier extension',
    { modifierExtension: [{ url: 'http://x.org/e', valueString: 'x' }] },
    INVALID,
    'modifierExtension',
  ),
  row('two categories', { category: [{ text: 'a' }, { text: 'b' }] }, INVALID, 'category'),
  row('an attester without party', { attester: [{ mode: { text: 'x' } }] }, INVALID, 'attester[0].party'),
  row(
    'two attesters',
    { attester: ['1', '2'].map((id) => ({ mode: { text: id }, party: { display: id } })) },
    INVALID,
    'attester',
  ),
  row('an event without concept', { event: [{ reference: { display: 'x' } }] }, INVALID, 'event[0].concept'),
  row('two contents', { content: [{ attachment: attachment() }, { attachment: attachment() }] }, INVALID, 'content'),
  row(
    'no contentType',
    { content: [{ attachment: attachment(BYTES, { contentType: undefined }) }] },
    INVALID,
    `${CONTENT}.contentType`,
  ),
  row(
    'no media type',
    { content: [{ attachment: attachment(BYTES, { contentType: 'text' }) }] },
    INVALID,
    `${CONTENT}.contentType`,
  ),
  row('a url', { content: [{ attachment: attachment(BYTES, { url: 'http://x.org/1' }) }] }, INVALID, `${CONTENT}.url`),
  row(
    'a profile without coding',
    { content: [{ attachment: attachment(), profile: [{ valueUri: 'http://x.org/p' }] }] },
    INVALID,
    'content[0].profile[0].valueCoding',
  ),
  row(
    'no document',
    { content: [{ attachment: { contentType: 'text/plain', url: 'http://x.org/1' } }] },
    ['publication-invalid', 'XDSMissingDocument'],
    `${CONTENT}.data`,
    { claimed: true },
  ),
  row(
    'no base64',
    { content: [{ attachment: attachment(BYTES, { data: 'a' }) }] },
    ['structure', undefined],
    `${CONTENT}.data`,
    {
      status: 400,
    },
  ),
  row(
    'another hash',
    { content: [{ attachment: attachment(BYTES, { hash: sha1(Buffer.from('x')) }) }] },
    ['publication-invalid', 'XDSRepositoryMetadataError'],
    `${CONTENT}.hash`,
  ),
  row(
    'another size',
    { content: [{ attachment: attachment(BYTES, { size: '3' }) }] },
    ['publication-invalid', 'XDSRepositoryMetadataError'],
    `${CONTENT}.size`,
  ),
  row(
    'a patient that is not there',
    { subject: { reference: 'Patient/missing' } },
    ['patient-unknown', 'XDSUnknownPatientId'],
    'subject.reference',
  ),
  row(
    'a subject of another type',
    { subject: { reference: 'Group/1' } },
    ['patient-unknown', 'XDSUnknownPatientId'],
    'subject.reference',
  ),
  row(
    'a contained subject',
    { subject: { reference: '#p' }, contained: [{ resourceType: 'Patient', id: 'p' }] },
    ['patient-unknown', 'XDSUnknownPatientId'],
    'subject.reference',
  ),
  row(
    'an identifier that no patient has',
    { subject: { identifier: { system: 'urn:none', value: '1' } } },
    ['patient-unknown', 'XDSUnknownPatientId'],
    'subject.identifier',
  ),
  row(
    'a subject with a name only',
    { subject: { display: 'x' } },
    ['patient-unknown', 'XDSUnknownPatientId'],
    'subject',
  ),
  row('no subject', { subject: undefined }, ['publication-invalid', 'XDSUnknownPatientId'], 'subject', {
    claimed: true,
  }),
  row(
    'FHIR JSON that is none',
    { content: [{ attachment: attachment(Buffer.from('{'), { contentType: 'application/fhir+json' }) }] },
    ['json-syntax', 'InvalidDocumentContent'],
    `${CONTENT}.data`,
  ),
  row(
    'a FHIR document that is no Bundle',
    {
      content: [
        {
          attachment: attachment(Buffer.from('{"resourceType":"Patient"}'), {
            contentType: 'application/fhir+json; charset=utf-8',
          }),
        },
      ],
    },
    ['type-mismatch', 'InvalidDocumentContent'],
    `${CONTENT}.data`,
  ),
  row(
    'a FHIR document in XML that is a collection',
    {
      content: [
        {
          attachment: attachment(
            Buffer.from('<Bundle xmlns="http://hl7.org/fhir"><type value="collection"/></Bundle>'),
            {
              contentType: 'application/fhir+xml',
            },
          ),
        },
      ],
    },
    ['document-invalid', 'InvalidDocumentContent'],
    `${CONTENT}.data`,
  ),
  row(
    'a FHIR document without Composition',
    {
      content: [
        {
          attachment: attachment(Buffer.from('{"resourceType":"Bundle","type":"document"}'), {
            contentType: 'application/fhir+json',
          }),
        },
      ],
    },
    ['invariant-broken', 'InvalidDocumentContent'],
    `${CONTENT}.data`,
  ),
  row(
    'a related document that is not there',
    { relatesTo: [related('appends', 'DocumentReference/none')] },
    ['related-document-unknown', 'UnresolvedReferenceException'],
    'relatesTo[0].target.reference',
  ),
  row(
    'the replacement of a document of another server',
    { relatesTo: [related('replaces', 'http://x.org/fhir/DocumentReference/1')] },
    ['related-document-unknown', 'UnresolvedReferenceException'],
    'relatesTo[0].target.reference',
  ),
];

/** A relation to another document. */
export function related(code: string, reference: string): object {
  return {
    code: { coding: [{ system: 'http://hl7.org/fhir/document-relationship-type', code }] },
    target: { reference },
  };
}

function row(
  name: string,
  change: object,
  [code, sharing]: readonly [string, string | undefined],
  at: string,
  more: { readonly status?: number; readonly claimed?: true } = {},
): (typeof BROKEN)[number] {
  return {
    name,
    change,
    code,
    sharing,
    at: at.startsWith('DocumentReference') ? at : `DocumentReference.${at}`,
    ...more,
  };
}

/** A FHIR document. */
export const DOCUMENT = {
  resourceType: 'Bundle',
  id: 'of-the-author',
  identifier: { system: 'urn:ietf:rfc:3986', value: 'urn:uuid:0c3151bd-1cbf-4d64-b04d-cd9187a4c6e0' },
  type: 'document',
  timestamp: '2024-01-01T00:00:00Z',
  entry: [
    {
      fullUrl: 'urn:uuid:3d1c1a24-0bd1-4a5b-b9c9-9c0b4a2e0f11',
      resource: {
        resourceType: 'Composition',
        status: 'final',
        type: { text: 'summary' },
        date: '2024-01-01',
        author: [{ display: 'who' }],
        title: 'Summary',
        subject: [{ reference: 'urn:uuid:6f0d3c5a-6f1e-4a4e-8c25-0b6e9f8f7a10' }],
      },
    },
    {
      fullUrl: 'urn:uuid:6f0d3c5a-6f1e-4a4e-8c25-0b6e9f8f7a10',
      resource: { resourceType: 'Patient', name: [{ family: 'Document' }] },
    },
  ],
};
