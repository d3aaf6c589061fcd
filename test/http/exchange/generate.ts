import { describe, expect, it } from 'vitest';

import { tables } from '../../../generated/tables.js';
import { NO_ACTORS } from '../../../runtime/core/actors.js';
import type { Resource } from '../../../runtime/fhir/resource.js';
import { writeXml } from '../../../runtime/format/xml/write-xml.js';
import type { Store } from '../../../runtime/store/store.js';
import { neededBy, scopedServer } from '../auth/scoped.js';
import type { Answer } from '../server.js';

const URN = 'urn:ietf:rfc:3986';
const LOINC = 'http://loinc.org';
const PATH = '/DocumentReference/$generate-metadata';

const asked = (document: object): object => ({
  resourceType: 'Parameters',
  parameter: [{ name: 'document', resource: document }],
});

/** A CDA document about the patient with an identifier. */
const cda = (patient: string, head = ''): string => `<?xml version="1.0" encoding="UTF-8"?>
<ClinicalDocument xmlns="urn:hl7-org:v3" xmlns:xsi="http://www.w3.org/2001/XMLSchema-instance">${head}
  <id root="1.2.3.4" extension="cda-1"/>
  <code code="34133-9" codeSystem="2.16.840.1.113883.6.1" displayName="Summary"/>
  <title>Summary of <b>care</b></title>
  <effectiveTime value="20240203040506+0100"/>
  <confidentialityCode code="R" codeSystem="2.16.840.1.113883.5.25"/>
  <languageCode code="de-AT"/>
  <recordTarget><patientRole>
    <id root="9.9.9" extension="elsewhere"/>
    <id root="1.2.40" extension="${patient}"/>
  </patientRole></recordTarget>
  <author><time value="20240203"/><assignedAuthor>
    <id root="1.2.41" extension="a1"/>
    <assignedPerson><name><prefix>Dr.</prefix><given>Ann</given><family>Author</family></name></assignedPerson>
  </assignedAuthor></author>
  <custodian><assignedCustodian><representedCustodianOrganization>
    <id root="1.2.42"/><name>Hospital</name>
  </representedCustodianOrganization></assignedCustodian></custodian>
  <documentationOf><serviceEvent><effectiveTime><low value="20240101"/><high value="202402"/></effectiveTime></serviceEvent></documentationOf>
  <component><structuredBody/></component>
</ClinicalDocument>`;

const binary = (text: string, contentType = 'text/xml'): object => ({
  resourceType: 'Binary',
  contentType,
  data: Buffer.from(text).toString('base64'),
});

/** A FHIR document, whose Composition refers to a patient in it. */
const bundle = (patient: object, composition: object = {}, more: object = {}): Record<string, unknown> => ({
  resourceType: 'Bundle',
  identifier: { system: URN, value: 'urn:uuid:0c3151bd-1cbf-4d64-b04d-cd9187a4c6e5' },
  type: 'document',
  timestamp: '2024-01-01T00:00:00Z',
  entry: [
    {
      fullUrl: 'http://hospital.example/fhir/Composition/c',
      resource: {
        resourceType: 'Composition',
        id: 'c',
        meta: { security: [{ system: 'http://terminology.hl7.org/CodeSystem/v3-Confidentiality', code: 'R' }] },
        language: 'fr',
        status: 'final',
        type: { coding: [{ system: LOINC, code: '60591-5' }] },
        date: '2024-01-01T10:00:00Z',
        author: [{ reference: 'Practitioner/p' }, { display: 'another' }],
        title: 'Summary',
        subject: [{ reference: 'Patient/p' }],
        event: [{ period: { start: '2024-01-01' } }],
        ...composition,
      },
    },
    { fullUrl: 'http://hospital.example/fhir/Patient/p', resource: { resourceType: 'Patient', id: 'p', ...patient } },
    {
      fullUrl: 'http://hospital.example/fhir/Practitioner/p',
      resource: { resourceType: 'Practitioner', id: 'p', name: [{ family: 'Author', given: ['Ann'] }] },
    },
  ],
  ...more,
});

/** A document about a patient of the server, as it is sent. */
export const generatedDocument = (reference: string): object => asked(bundle({}, { subject: [{ reference }] }));

/** A patient of the server. */
interface Known {
  readonly reference: string;
  readonly identifier: { readonly system: string; readonly value: string };
}

/** Entries of a document whose subject is a resource of a type with an identifier. */
const entriesAbout = (resourceType: string, identifier: object): readonly object[] => [
  {
    fullUrl: 'http://hospital.example/fhir/Composition/c',
    resource: {
      ...{ resourceType: 'Composition', id: 'c', status: 'final', type: { text: 'x' }, date: '2024-01-01', title: 'x' },
      ...{ author: [{ display: 'x' }], subject: [{ reference: `${resourceType}/x` }] },
    },
  },
  {
    fullUrl: `http://hospital.example/fhir/${resourceType}/x`,
    resource: { resourceType, id: 'x', name: 'x', identifier: [identifier] },
  },
];

/** Metadata made of documents, whatever the store. IHE MHD 5.1.0, 2:3.106 */
export function generatingMetadata(store: Store): void {
  const server = scopedServer(store);
  const { all } = server;
  const without = scopedServer(store, { exchange: { documents: false, actors: NO_ACTORS } });
  let made = 0;
  const patient = async (): Promise<Known> => {
    const value = `generated-${(made += 1)}`;
    const identifier = { system: 'urn:oid:1.2.40', value };
    const answer = await all.send('POST', '/Patient', { resourceType: 'Patient', identifier: [identifier] });
    expect(answer.status, answer.text).toBe(201);
    return { reference: `Patient/${answer.json().id}`, identifier };
  };
  const counts = async (): Promise<readonly number[]> => {
    const found: number[] = [];
    for (const type of ['DocumentReference', 'Binary', 'Bundle', 'List'])
      found.push((await all.send('GET', `/${type}?_summary=count`)).json().total);
    return found;
  };
  const generated = async (document: object): Promise<Record<string, never>> => {
    const answer = await all.send('POST', PATH, asked(document));
    expect(answer.status, answer.text).toBe(200);
    const [only] = answer.json().parameter;
    expect(only.name).toBe('DocumentReference');
    return (await all.send('GET', `/${only.valueReference.reference}`)).json();
  };
  const documentOf = (reference: Record<string, never>): Promise<Answer> => {
    const { url } = (reference['content'] as unknown as { attachment: { url: string } }[])[0]!.attachment;
    return all.send('GET', url.slice(url.indexOf('/fhir') + '/fhir'.length));
  };

  describe('$generate-metadata (MHD 2:3.106)', () => {
    it('makes the metadata of a CDA document, and stores it byte for byte', async () => {
      const { reference, identifier } = await patient();
      const before = await counts();
      const text = cda(identifier.value, '<!-- <component/> --><!-- -->');
      const found = await generated(binary(text, 'application/xml'));
      expect(await counts()).toEqual(before.map((n, i) => n + [1, 1, 0, 1][i]!));
      expect(found).toMatchObject({
        status: 'current',
        subject: { reference },
        identifier: [{ system: 'urn:oid:1.2.3.4', value: 'cda-1', type: { coding: [{ code: 'uniqueId' }] } }],
        type: { coding: [{ system: LOINC, code: '34133-9', display: 'Summary' }] },
        securityLabel: [{ coding: [{ code: 'R' }] }],
        period: { start: '2024-01-01', end: '2024-02' },
        author: [{ reference: '#party-1' }],
        custodian: { reference: '#party-2' },
        contained: [
          { resourceType: 'Practitioner', name: [{ family: 'Author', given: ['Ann'], prefix: ['Dr.'] }] },
          { resourceType: 'Organization', name: 'Hospital' },
        ],
      });
      const [{ attachment }] = found['content'] as unknown as [{ attachment: object }];
      expect(attachment).toMatchObject({
        ...{ contentType: 'application/xml', title: 'Summary of care', language: 'de-AT' },
        ...{ creation: '2024-02-03T04:05:06+01:00', size: String(Buffer.byteLength(text)) },
      });
      const got = await documentOf(found);
      expect([got.headers['content-type'], got.bytes.toString()]).toEqual(['application/xml', text]);
      const search = await all.send('GET', `/DocumentReference?patient=${reference}&author.family=Author`);
      expect(search.json().total).toBe(1);
    });

    it.each(['json', 'xml', 'in a Binary'])('makes the metadata of a FHIR document: %s', async (form) => {
      const { reference, identifier } = await patient();
      const document = bundle({ identifier: [{ system: 'urn:other', value: '1' }, identifier] });
      const before = await counts();
      const body = asked(form === 'in a Binary' ? binary(JSON.stringify(document), 'application/fhir+json') : document);
      const answer =
        form === 'xml'
          ? await all.send('POST', PATH, writeXml(body as Resource, tables), {
              'content-type': 'application/fhir+xml',
              accept: 'application/fhir+json',
            })
          : await all.send('POST', PATH, body);
      expect(answer.status, answer.text).toBe(200);
      expect(await counts()).toEqual(before.map((n, i) => n + [1, 0, 1, 1][i]!));
      const made = (await all.send('GET', `/${answer.json().parameter[0].valueReference.reference}`)).json();
      expect(made).toMatchObject({
        meta: { profile: ['https://profiles.ihe.net/ITI/MHD/StructureDefinition/IHE.MHD.Minimal.DocumentReference'] },
        subject: { reference },
        identifier: [{ system: URN, value: 'urn:uuid:0c3151bd-1cbf-4d64-b04d-cd9187a4c6e5' }],
        type: { coding: [{ system: LOINC, code: '60591-5' }] },
        author: [{ reference: '#party-1' }, { display: 'another' }],
        securityLabel: [{ coding: [{ code: 'R' }] }],
        period: { start: '2024-01-01' },
        content: [{ attachment: { title: 'Summary', creation: '2024-01-01T10:00:00Z', language: 'fr' } }],
      });
      const stored = (await documentOf(made)).json();
      expect([stored.resourceType, stored.type, stored.entry.length]).toEqual(['Bundle', 'document', 3]);
    });

    it('keeps the labels of the document, by which scopes show it or not', async () => {
      const { reference } = await patient();
      const meta = { security: [{ system: 'urn:labels', code: 'R' }], tag: [{ system: 'urn:tags', code: 't' }] };
      const document = { ...bundle({}, { subject: [{ reference }] }), meta };
      for (const each of [document, binary(JSON.stringify(document), 'application/fhir+json')]) {
        const made = await generated(each);
        expect(made).toMatchObject({ meta });
        expect((await documentOf(made)).json()).toMatchObject({ meta });
        const list = await all.send('GET', `/List?item=DocumentReference/${String(made['id'])}`);
        expect(list.json().entry[0].resource).toMatchObject({ meta });
      }
    });

    it('takes the patient by reference where the document does not have them', async () => {
      const { reference } = await patient();
      expect(await generated(bundle({}, { subject: [{ reference }] }))).toMatchObject({ subject: { reference } });
    });

    it.each<[string, () => object, string]>([
      ['text', () => binary('Hello World', 'text/plain'), 'document-invalid'],
      ['XML of another kind', () => binary('<a/>'), 'document-invalid'],
      ['broken XML', () => binary('<ClinicalDocument'), 'document-invalid'],
      ['entities', () => binary('<!DOCTYPE a [<!ENTITY b "c">]><ClinicalDocument>&b;</ClinicalDocument>'), 'document-invalid'], // prettier-ignore
      ['a header without end', () => binary(cda('nobody', `<a>${'x'.repeat(600_000)}</a>`)), 'document-invalid'],
      ['no bytes', () => ({ resourceType: 'Binary', contentType: 'text/xml' }), 'document-invalid'],
      ['a Bundle of another type', () => bundle({}, {}, { type: 'collection' }), 'document-invalid'],
      [
        'a Bundle without Composition',
        () =>
          bundle(
            {},
            {},
            {
              entry: [
                {
                  fullUrl: 'urn:uuid:3d1c1a24-0bd1-4a5b-b9c9-9c0b4a2e0f12',
                  resource: { resourceType: 'Patient', active: true },
                },
              ],
            },
          ),
        'document-invalid',
      ],
      ['another type', () => ({ resourceType: 'Patient' }), 'document-invalid'],
      ['a patient that is not known', () => bundle({ identifier: [{ system: 'urn:oid:1.2.40', value: 'nobody' }] }), 'patient-unknown'], // prettier-ignore
      ['a CDA patient that is not known', () => binary(cda('nobody')), 'patient-unknown'],
      ['a patient that only the document has', () => bundle({}), 'patient-unknown'],
    ])('refuses %s, and stores nothing', async (_name, document, code) => {
      const before = await counts();
      const answer = await all.send('POST', PATH, asked(document()));
      expect(answer.status, answer.text).toBe(422);
      const [issue] = answer.json().issue;
      expect(issue.details.coding[0].code).toBe(code);
      expect(issue.details.coding.at(-1).code).toMatch(/^(?:InvalidDocumentContent|XDSUnknownPatientId)$/);
      expect(await counts()).toEqual(before);
    });

    it.each<[string, (one: Known, other: Known) => object]>([
      [
        'a subject that is no patient',
        (one) => bundle({}, {}, { entry: entriesAbout('Organization', one.identifier) }),
      ],
      ['a subject of another type', (one) => bundle({}, { subject: [{ type: 'Group', identifier: one.identifier }] })],
      ['two subjects', (one, other) => bundle({}, { subject: [one, other].map(({ reference }) => ({ reference })) })],
      ['a patient of two identifiers that two patients have', (one, other) => bundle({ identifier: [one.identifier, other.identifier] })], // prettier-ignore
      ['a CDA document about two', (one, other) => binary(cda(one.identifier.value).replace('</recordTarget>', `</recordTarget><recordTarget><patientRole><id root="1.2.40" extension="${other.identifier.value}"/></patientRole></recordTarget>`))], // prettier-ignore
      ['an id of another namespace', ({ identifier: { value } }) => binary(cda(value).replace(`<id root="1.2.40" extension="${value}"/>`, `<e:id xmlns:e="urn:x" root="1.2.40" extension="${value}"/>`))], // prettier-ignore
    ])('takes no patient from %s', async (_name, document) => {
      const answer = await all.send('POST', PATH, asked(document(await patient(), await patient())));
      expect(answer.status, answer.text).toBe(422);
      expect(answer.json().issue[0].details.coding[0].code).toBe('patient-unknown');
    });

    it.each<[string, (known: Known) => object]>([
      ['a confidentiality without a code system', ({ identifier }) => binary(cda(identifier.value).replace('code="R" codeSystem="2.16.840.1.113883.5.25"', 'code="R"'))], // prettier-ignore
      ['a CDA document that replaces another', ({ identifier }) => binary(cda(identifier.value, '<relatedDocument typeCode="RPLC"><parentDocument><id root="1.2"/></parentDocument></relatedDocument>'))], // prettier-ignore
      ['a FHIR document that was entered in error', ({ reference }) => bundle({}, { subject: [{ reference }], status: 'entered-in-error' })], // prettier-ignore
      ['a FHIR document that replaces another', ({ reference }) => bundle({}, { subject: [{ reference }], relatesTo: [{ type: 'replaces', resourceReference: { reference: 'DocumentReference/x' } }] })], // prettier-ignore
      ['a Binary that another resource protects', ({ identifier, reference }) => ({ ...binary(cda(identifier.value)), securityContext: { reference } })], // prettier-ignore
      ['a header of 30,000 elements', ({ identifier }) => binary(cda(identifier.value, '<y/>'.repeat(30_000)))],
      ['400 kB of authors', ({ reference }) => bundle({}, { subject: [{ reference }], author: [{ display: 'x'.repeat(400_000) }] })], // prettier-ignore
    ])('refuses %s', async (_name, document) => {
      const before = await counts();
      const answer = await all.send('POST', PATH, asked(document(await patient())));
      expect([answer.status, answer.json().issue[0].details.coding[0].code], answer.text).toEqual([422, 'document-invalid']); // prettier-ignore
      expect(await counts()).toEqual(before);
    });

    it('contains an author once, however often they are named, and passes over an odd time', async () => {
      const { reference, identifier } = await patient();
      const author = Array.from({ length: 500 }, () => ({ reference: 'Practitioner/p' }));
      expect(await generated(bundle({}, { subject: [{ reference }], author }))).toMatchObject({
        author: [{ reference: '#party-1' }],
      });
      const made = await generated(binary(cda(identifier.value).replace('20240203040506+0100', '20231399')));
      expect(JSON.stringify(made)).not.toContain('creation');
    });

    it('judges a constraint on what may be created first, whoever the patient is', async () => {
      const [mine, other] = [await patient(), await patient()];
      const client = server.as(`system/DocumentReference.c?patient=${mine.reference}`);
      const statuses: number[] = [];
      for (const subject of [mine.reference, other.reference, 'Patient/nobody'])
        statuses.push(
          (await client.send('POST', PATH, asked(bundle({}, { subject: [{ reference: subject }] })))).status,
        );
      expect(statuses).toEqual([200, 403, 403]);
    });

    it('looks at none of the patients that the token does not show, however many there are', async () => {
      const { reference, identifier } = await patient();
      for (let n = 0; n < 22; n++) await all.send('POST', '/Patient', { resourceType: 'Patient', gender: 'male', identifier: [identifier] }); // prettier-ignore
      await all.send('PUT', `/${reference}`, { resourceType: 'Patient', id: reference.split('/')[1], gender: 'female', identifier: [identifier] }); // prettier-ignore
      const client = server.as('system/DocumentReference.c system/Patient.rs?gender=female');
      const answer = await client.send('POST', PATH, asked(binary(cda(identifier.value))));
      expect(answer.status, answer.text).toBe(200);
      await all.send('POST', '/Patient', { resourceType: 'Patient', gender: 'female', identifier: [identifier] });
      expect((await client.send('POST', PATH, asked(binary(cda(identifier.value))))).status).toBe(422);
    });

    it('refuses an identifier that several patients have', async () => {
      const { identifier } = await patient();
      await all.send('POST', '/Patient', { resourceType: 'Patient', identifier: [identifier] });
      const answer = await all.send('POST', PATH, asked(binary(cda(identifier.value))));
      expect(answer.status).toBe(422);
    });

    it('refuses Parameters without a document with 400', async () => {
      expect((await all.send('POST', PATH, { resourceType: 'Parameters' })).status).toBe(400);
      expect((await all.send('GET', PATH)).status).toBe(405);
    });

    it('needs DocumentReference.c and nothing else; what the token does not show is not known', async () => {
      const { identifier } = await patient();
      const body = asked(binary(cda(identifier.value)));
      expect((await server.as('system/DocumentReference.c').send('POST', PATH, body)).status).toBe(200);
      expect(neededBy(await server.as('system/DocumentReference.rs system/Patient.rs').send('POST', PATH, body))).toBe(
        'system/DocumentReference.c',
      );
      const hidden = server.as('system/DocumentReference.c system/Patient.rs?gender=female');
      expect((await hidden.send('POST', PATH, body)).status).toBe(422);
    });

    it('is not there where documents are not taken apart', async () => {
      expect((await without.all.send('POST', PATH, asked(bundle({})))).status).toBe(405);
      expect((await without.all.send('GET', '/metadata')).text).not.toContain('generate-metadata');
      expect((await all.send('GET', '/metadata')).text).toContain('generate-metadata');
    });
  });
}
