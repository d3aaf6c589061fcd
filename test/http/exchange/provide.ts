import { describe, expect, it } from 'vitest';

import { NO_ACTORS } from '../../../runtime/core/actors.js';
import type { Store } from '../../../runtime/store/store.js';
import { neededBy, scopedServer } from '../auth/scoped.js';
import { BYTES, DOCUMENT, identifier, sha1 } from './publish-cases.js';

const MHD = 'https://profiles.ihe.net/ITI/MHD';
const profile = (level: string): string => `${MHD}/StructureDefinition/IHE.MHD.${level}.ProvideBundle`;
const MINIMAL = profile('Minimal');
const COMPREHENSIVE = profile('Comprehensive');
const UNCONTAINED = profile('UnContained.Comprehensive');

const URN = (n: number): string => `urn:uuid:00000000-0000-4000-8000-00000000000${n}`;
const [SET, REFERENCE, BINARY, FOLDER] = [1, 2, 3, 4].map(URN) as [string, string, string, string];
const concept = (code: string, system = 'urn:codes') => ({ coding: [{ system, code }] });
const extension = (url: string, value: object) => ({ url, ...value });

interface Entry {
  readonly fullUrl?: string;
  readonly request: { readonly method: string; readonly url: string };
  readonly resource?: Record<string, unknown>;
}

const post = (fullUrl: string, resource: Record<string, unknown>): Entry => ({
  ...{ fullUrl, resource },
  request: { method: 'POST', url: String(resource['resourceType']) },
});

const submissionSet = (subject: string, more: object = {}): Record<string, unknown> => ({
  resourceType: 'List',
  extension: [extension(`${MHD}/StructureDefinition/ihe-sourceId`, { valueIdentifier: { value: 'urn:oid:1.2.3' } })],
  status: 'current',
  mode: 'working',
  code: concept('submissionset', `${MHD}/CodeSystem/MHDlistTypes`),
  subject: [{ reference: subject }],
  date: '2026-01-02T03:04:05Z',
  entry: [{ item: { reference: REFERENCE } }],
  ...more,
});

const attached = (more: object = {}) => ({
  attachment: { contentType: 'text/plain', url: BINARY, size: String(BYTES.length), hash: sha1(BYTES), ...more },
});

const reference = (subject: string, more: object = {}): Record<string, unknown> => ({
  resourceType: 'DocumentReference',
  identifier: [identifier('uniqueId', 'urn:oid:1.2.3.4')],
  status: 'current',
  subject: { reference: subject },
  content: [attached()],
  ...more,
});

const binary = { resourceType: 'Binary', contentType: 'text/plain', data: BYTES.toString('base64') };

const folder = {
  resourceType: 'List',
  status: 'current',
  mode: 'working',
  code: concept('folder', `${MHD}/CodeSystem/MHDlistTypes`),
  date: '2026-01-02T03:04:05Z',
  entry: [{ item: { reference: REFERENCE } }],
};

/** What a comprehensive DocumentReference has besides. */
const METADATA = {
  type: concept('60591-5', 'http://loinc.org'),
  category: [concept('summary')],
  securityLabel: [concept('N')],
  facilityType: concept('hospital'),
  practiceSetting: concept('cardiology'),
  contained: [{ resourceType: 'Patient', id: 'source', name: [{ family: 'Source' }] }],
  extension: [
    extension('http://hl7.org/fhir/StructureDefinition/documentreference-sourcepatient', { valueReference: { reference: '#source' } }),
  ],
  content: [{ ...attached({ language: 'en', creation: '2026-01-01' }), profile: [{ valueCoding: { code: 'urn:x' } }] }],
}; // prettier-ignore

const designation = extension(`${MHD}/StructureDefinition/ihe-designationType`, { valueCodeableConcept: concept('x') });

/** A Bundle that provides one document of a patient. */
export function providedBundle(subject: string): object {
  const entry = [post(SET, submissionSet(subject)), post(REFERENCE, reference(subject)), post(BINARY, binary)];
  return { resourceType: 'Bundle', meta: { profile: [MINIMAL] }, type: 'transaction', entry };
}

/** Bundles that provide documents, whatever the store. */
export function providing(store: Store): void {
  const server = scopedServer(store);
  const off = scopedServer(store, { exchange: { documents: false, actors: NO_ACTORS } });
  const { all } = server;
  let count = 0;

  async function newPatient(): Promise<string> {
    const id = `provided-${++count}`;
    expect((await all.send('PUT', `/Patient/${id}`, { resourceType: 'Patient', id })).status).toBe(201);
    return `Patient/${id}`;
  }

  const bundle = (entry: readonly Entry[], claim: string | undefined = MINIMAL): object => ({
    resourceType: 'Bundle',
    ...(claim !== '' && { meta: { profile: [claim] } }),
    type: 'transaction',
    entry,
  });
  const minimal = (subject: string): Entry[] => [
    post(SET, submissionSet(subject)),
    post(REFERENCE, reference(subject)),
    post(BINARY, binary),
  ];
  const totalOf = async (type: string, subject: string): Promise<number> =>
    (await all.send('GET', `/${type}?patient=${subject}&_total=accurate`)).json().total;

  it('stores all, and the document is fetched by the URL of its reference', async () => {
    const subject = await newPatient();
    const answer = await all.send('POST', '', bundle(minimal(subject)));
    expect(answer.status, answer.text).toBe(200);
    const { type, entry } = answer.json();
    expect(type).toBe('transaction-response');
    expect(entry.map(({ response }: { response: { status: string } }) => response.status.slice(0, 3))).toEqual(['201', '201', '201']); // prettier-ignore
    const [set, found] = await Promise.all(
      ['List', 'DocumentReference'].map(async (each) => (await all.send('GET', `/${each}?patient=${subject}`)).json().entry[0].resource), // prettier-ignore
    );
    expect(set.entry[0].item.reference).toBe(`DocumentReference/${found.id}`);
    const [{ attachment }] = found.content;
    expect(attachment.url).toMatch(/^http.*\/Binary\/[^/]+$/);
    const read = await all.send('GET', attachment.url.slice(`${all.url}/fhir`.length));
    expect([read.status, read.text]).toEqual([200, BYTES.toString()]);
  });

  it('takes folders, document Bundles and comprehensive metadata', async () => {
    const subject = await newPatient();
    const set = submissionSet(subject);
    const full = { ...set, extension: [...(set['extension'] as object[]), designation] };
    const entries = [
      post(SET, full),
      post(REFERENCE, reference(subject, METADATA)),
      post(BINARY, binary),
      post(FOLDER, folder),
    ];
    for (const claim of [COMPREHENSIVE, `${UNCONTAINED}|5.1.0`]) {
      const answer = await all.send('POST', '', bundle(entries, claim));
      expect(answer.status, answer.text).toBe(200);
    }
    const other = await newPatient();
    const described = { content: [{ attachment: { contentType: 'application/fhir+json', url: BINARY } }] };
    const documents = [post(SET, submissionSet(other)), post(REFERENCE, reference(other, described)), post(BINARY, DOCUMENT as never)]; // prettier-ignore
    const answer = await all.send('POST', '', bundle(documents));
    expect(answer.status, answer.text).toBe(200);
    const [{ resource }] = (await all.send('GET', `/DocumentReference?patient=${other}`)).json().entry;
    const url: string = resource.content[0].attachment.url;
    expect((await all.send('GET', url.slice(`${all.url}/fhir`.length))).json().type).toBe('document');
  });

  it('replaces a document by a patch of its status', async () => {
    const subject = await newPatient();
    expect((await all.send('POST', '', bundle(minimal(subject)))).status).toBe(200);
    const [{ resource: old }] = (await all.send('GET', `/DocumentReference?patient=${subject}`)).json().entry;
    const patch = (value: string): Entry => ({
      request: { method: 'PATCH', url: `DocumentReference/${old.id}` },
      resource: {
        resourceType: 'Parameters',
        parameter: [{ name: 'operation', part: [{ name: 'type', valueCode: 'replace' }, { name: 'path', valueString: 'DocumentReference.status' }, { name: 'value', valueCode: value }] }], // prettier-ignore
      },
    });
    const relatesTo = [{ code: concept('replaces', 'http://hl7.org/fhir/document-relationship-type'), target: { reference: `DocumentReference/${old.id}` } }]; // prettier-ignore
    const [set, , document] = minimal(subject) as [Entry, Entry, Entry];
    const replacing = post(REFERENCE, reference(subject, { relatesTo }));
    const refused = await all.send('POST', '', bundle([set, patch('entered-in-error'), replacing, document]));
    expect(refused.status).toBe(422);
    expect(await totalOf('DocumentReference', subject)).toBe(1);
    const answer = await all.send('POST', '', bundle([set, patch('superseded'), replacing, document]));
    expect(answer.status, answer.text).toBe(200);
    expect((await all.send('GET', `/DocumentReference/${old.id}`)).json().status).toBe('superseded');
  });

  describe('is refused, and nothing is stored', () => {
    const without = (resource: Record<string, unknown>, name: string): Record<string, unknown> =>
      Object.fromEntries(Object.entries(resource).filter(([each]) => each !== name));
    const set = (subject: string, more: object = {}) => post(SET, submissionSet(subject, more));
    const one = (subject: string, more: object = {}) => post(REFERENCE, reference(subject, more));
    const document = post(BINARY, binary);
    type Refusal = readonly [string, (subject: string) => Entry[], string, string, (string | undefined)?];
    const full = (s: string, more: object = {}) =>
      set(s, { extension: [...(submissionSet(s)['extension'] as object[]), designation], ...more });
    const cases: readonly Refusal[] = [
      ['no submission set', (s) => [one(s), document], 'XDSRegistryMetadataError', 'Bundle.entry'],
      ['two of them', (s) => [set(s), post(URN(5), submissionSet(s)), one(s), document], 'XDSRegistryMetadataError', 'Bundle.entry[1]'],
      ['one without a source', (s) => [post(SET, without(submissionSet(s), 'extension')), one(s), document], 'XDSRegistryMetadataError', 'Bundle.entry[0].resource.extension'],
      ['one without a date', (s) => [post(SET, without(submissionSet(s), 'date')), one(s), document], 'XDSRegistryMetadataError', 'Bundle.entry[0].resource.date'],
      ['another kind of entry', (s) => [set(s), one(s), document, post(URN(6), { resourceType: 'Basic', code: { text: 'x' } })], 'XDSRegistryMetadataError', 'Bundle.entry[3]'],
      ['a list of no kind', (s) => [set(s), one(s), document, post(FOLDER, { ...folder, code: concept('x') })], 'XDSRegistryMetadataError', 'Bundle.entry[3]'],
      ['a deletion', (s) => [set(s), one(s), document, { request: { method: 'DELETE', url: 'DocumentReference/x' } }], 'XDSRegistryMetadataError', 'Bundle.entry[3]'],
      ['a document beside its reference', (s) => [set(s), one(s, { content: [attached({ data: 'eA==' })] }), document], 'XDSRegistryMetadataError', 'Bundle.entry[1].resource.content[0].attachment.data'],
      ['no URL', (s) => [set(s), one(s, { content: [{ attachment: { contentType: 'text/plain' } }] }), document], 'XDSMissingDocument', 'Bundle.entry[1].resource.content[0].attachment.url'],
      ['another status', (s) => [set(s), one(s, { status: 'entered-in-error' }), document], 'XDSRegistryMetadataError', 'Bundle.entry[1].resource.status'],
      ['a document that is not there', (s) => [set(s), one(s)], 'UnresolvedReferenceException', 'Bundle.entry[1].resource.content[0].attachment.url'],
      ['an item that is not there', (s) => [set(s, { entry: [{ item: { reference: URN(9) } }] }), one(s), document], 'UnresolvedReferenceException', 'Bundle.entry[0].resource.entry[0].item.reference'],
      ['another size', (s) => [set(s), one(s, { content: [attached({ size: '1' })] }), document], 'XDSRepositoryMetadataError', 'Bundle.entry[1].resource.content[0].attachment.size'],
      ['another hash', (s) => [set(s), one(s, { content: [attached({ hash: 'eA==' })] }), document], 'XDSRepositoryMetadataError', 'Bundle.entry[1].resource.content[0].attachment.hash'],
      ['a Bundle that is no document', (s) => [set(s), one(s), post(BINARY, { resourceType: 'Bundle', type: 'collection' })], 'XDSRegistryMetadataError', 'Bundle.entry[2].resource.type'],
      ['two patients', (s) => [set(s), one(s), document, post(URN(7), { resourceType: 'Patient' }), post(URN(8), { resourceType: 'Patient' })], 'XDSRegistryMetadataError', 'Bundle.entry[4]'],
      ['less metadata than it claims', (s) => minimal(s), 'XDSRegistryMetadataError', 'Bundle.entry[0].resource.extension', COMPREHENSIVE],
      ['an author elsewhere', (s) => [full(s), one(s, { ...METADATA, author: [{ reference: 'Practitioner/x' }] }), document], 'XDSRegistryMetadataError', 'Bundle.entry[1].resource.author[0].reference', COMPREHENSIVE],
      ...Object.entries({ modifierExtension: [{ url: 'urn:x', valueString: 'x' }], docStatus: 'final', category: [concept('a'), concept('b')], attester: [1, 2].map((n) => ({ mode: concept('x'), party: { display: `${n}` } })), identifier: [{ value: 'x' }] }).map(([name, value]): Refusal =>
        [`a reference with another ${name}`, (s) => [set(s), one(s, { [name]: value }), document], 'XDSRegistryMetadataError', `Bundle.entry[1].resource.${name}`]),
      ...Object.entries({ modifierExtension: [{ url: 'urn:x', valueString: 'x' }], status: 'retired', mode: 'snapshot', encounter: { display: 'x' }, orderedBy: concept('user'), note: [{ text: 'a' }, { text: 'b' }], identifier: [identifier('uniqueId', 'urn:uuid:1')], extension: [...(submissionSet('')['extension'] as object[]), designation, designation] }).map(([name, value]): Refusal =>
        [`a submission set with another ${name}`, (s) => [set(s, { [name]: value }), one(s), document], 'XDSRegistryMetadataError', `Bundle.entry[0].resource.${name}`]),
      ['an item with a date', (s) => [set(s, { entry: [{ date: '2026', item: { reference: REFERENCE } }] }), one(s), document], 'XDSRegistryMetadataError', 'Bundle.entry[0].resource.entry[0].date'],
      ['no media type', (s) => [set(s), one(s, { content: [attached({ contentType: undefined })] }), document], 'XDSRegistryMetadataError', 'Bundle.entry[1].resource.content[0].attachment.contentType'],
      ['a format that is no code', (s) => [set(s), one(s, { content: [{ ...attached(), profile: [{ valueUri: 'urn:x' }] }] }), document], 'XDSRegistryMetadataError', 'Bundle.entry[1].resource.content[0].profile[0].valueCoding'],
      ['a folder with a source', (s) => [set(s), one(s), document, post(FOLDER, { ...folder, source: { display: 'x' } })], 'XDSRegistryMetadataError', 'Bundle.entry[3].resource.source'],
      ['an attester elsewhere', (s) => [full(s), one(s, { ...METADATA, attester: [{ mode: concept('x'), party: { reference: 'Practitioner/x' } }] }), document], 'XDSRegistryMetadataError', 'Bundle.entry[1].resource.attester[0].party.reference', COMPREHENSIVE],
      ['a source elsewhere', (s) => [full(s, { source: { reference: 'Practitioner/x' } }), one(s, METADATA), document], 'XDSRegistryMetadataError', 'Bundle.entry[0].resource.source.reference', COMPREHENSIVE],
      ['a source patient elsewhere', (s) => [full(s), one(s, { ...METADATA, contained: undefined, extension: [{ ...METADATA.extension[0], valueReference: { reference: s } }] }), document], 'XDSRegistryMetadataError', 'Bundle.entry[1].resource.extension[0].valueReference.reference', COMPREHENSIVE],
    ]; // prettier-ignore

    it.each(cases.map(([what, ...rest]) => [what, rest] as const))('%s', async (_what, [entries, code, at, claim]) => {
      const subject = await newPatient();
      const answer = await all.send('POST', '', bundle(entries(subject), claim));
      expect(answer.status, answer.text).toBe(422);
      const [issue] = answer.json().issue;
      expect([issue.details.coding[0].code, issue.details.coding.at(-1).code, issue.expression[0]]).toEqual(['publication-invalid', code, at]); // prettier-ignore
      expect([await totalOf('List', subject), await totalOf('DocumentReference', subject)]).toEqual([0, 0]);
    });

    it('without a scope for each entry', async () => {
      const subject = await newPatient();
      const refused = await server
        .as('system/List.c system/DocumentReference.c')
        .send('POST', '', bundle(minimal(subject)));
      expect(neededBy(refused)).toContain('Binary.c');
      expect(await totalOf('List', subject)).toBe(0);
      const scopes = 'system/List.c system/DocumentReference.c system/Binary.c';
      expect((await server.as(scopes).send('POST', '', bundle(minimal(subject)))).status).toBe(200);
    });
  });

  it('is a transaction like any other where it claims nothing, or the setting says so', async () => {
    const subject = await newPatient();
    const plain = [post(REFERENCE, reference(subject)), post(BINARY, binary)];
    expect((await all.send('POST', '', bundle(plain))).status).toBe(422);
    expect((await all.send('POST', '', bundle(plain, ''))).status).toBe(200);
    expect((await off.all.send('POST', '', bundle(plain))).status).toBe(200);
  });
}
