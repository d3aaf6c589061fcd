import { beforeAll, describe, expect, it } from 'vitest';

import type { Store } from '../../../../runtime/store/store.js';
import { FORM_TYPE, idsOf, linkOf, notesOf, putAll, refusalOf, useWholeServer } from '../../search-server.js';

const to = (reference: string) => ({ reference });
const patient = (id: string, family: string, more: object = {}) => ({
  resourceType: 'Patient',
  id,
  name: [{ family }],
  ...more,
});
const observation = (id: string, subject: object | undefined, code: string, more: object = {}) => ({
  resourceType: 'Observation',
  id,
  status: 'final',
  code: { coding: [{ system: 'http://loinc.org', code }] },
  subject,
  ...more,
});

const DATA = [
  { resourceType: 'Organization', id: 'acme', name: 'Acme', identifier: [{ system: 'urn:org', value: '1' }] },
  { resourceType: 'Organization', id: 'beta', name: 'Beta', partOf: to('Organization/acme') },
  { resourceType: 'Organization', id: 'gone', name: 'Gone' },
  { resourceType: 'Practitioner', id: 'house', name: [{ family: 'House' }], identifier: [{ value: 'h' }] },
  patient('ann', 'Ann', {
    managingOrganization: to('Organization/acme'),
    generalPractitioner: [to('Practitioner/house')],
    birthDate: '1970-05-01',
    identifier: [{ system: 'urn:p', value: '1' }],
  }),
  patient('bob', 'Bob', { managingOrganization: to('Organization/beta'), birthDate: '2001' }),
  patient('cat', 'Cat'),
  patient('dan', 'Dan', { managingOrganization: to('Organization/gone') }),
  patient('eve', 'Eve', { managingOrganization: { identifier: { system: 'urn:org', value: '1' } } }),
  { resourceType: 'Group', id: 'some', membership: 'enumerated', member: [{ entity: to('Patient/ann') }] },
  observation('of-ann', to('Patient/ann'), 'x', { performer: [to('Practitioner/house')], valueString: 'a' }),
  observation('of-ann-1', to('Patient/ann/_history/1'), 'y'),
  observation('of-bob', to('Patient/bob'), 'x', { performer: [to('Organization/beta'), to('Organization/acme')] }),
  observation('of-cat', to('Patient/cat'), 'z'),
  observation('of-dan', to('Patient/dan'), 'z'),
  observation('of-group', to('Group/some'), 'x'),
  observation('of-nobody', undefined, 'x'),
  observation('of-never', to('Patient/never'), 'x'),
  observation('of-far', to('http://elsewhere.example/fhir/Patient/ann'), 'x'),
  observation('of-known', { identifier: { system: 'urn:p', value: '1' } }, 'x'),
  { resourceType: 'Encounter', id: 'e', status: 'completed', subject: to('Patient/bob') },
  {
    resourceType: 'Questionnaire',
    id: 'q1',
    url: 'http://example.org/q',
    version: '1',
    title: 'Old',
    status: 'active',
  },
  {
    resourceType: 'Questionnaire',
    id: 'q2',
    url: 'http://example.org/q',
    version: '2',
    title: 'New',
    status: 'active',
  },
  ...['http://example.org/q|1', 'http://example.org/q', 'http://example.org/other'].map((questionnaire, n) => ({
    resourceType: 'QuestionnaireResponse',
    id: `r${n}`,
    status: 'completed',
    questionnaire,
  })),
  {
    resourceType: 'DocumentReference',
    id: 'doc',
    status: 'current',
    subject: to('Patient/ann'),
    author: [to('Practitioner/house')],
  },
  { resourceType: 'DocumentReference', id: 'doc-bob', status: 'current', subject: to('Patient/bob') },
];

/** Chains and reverse chains from one end to the other, whatever the store. https://hl7.org/fhir/R5/search.html#chaining */
export function linkSearches(data: Store): void {
  const server = useWholeServer({ store: data });
  const get = (path: string, headers: Record<string, string> = {}) => server.send('GET', path, undefined, headers);

  beforeAll(async () => {
    await putAll(server, DATA);
    await server.send('DELETE', '/Organization/gone');
  }, 60_000);

  it.each([
    // Chains.
    ['Observation?subject:Patient.name=ann', ['of-ann', 'of-ann-1']],
    ['Observation?subject.name=ann', ['of-ann', 'of-ann-1']],
    ['Observation?patient.name=bob', ['of-bob']],
    ['Observation?subject:Group.type=x', []],
    ['Observation?subject:Patient.organization.name=acme', ['of-ann', 'of-ann-1']],
    ['Observation?subject:Patient.organization.name=acme,beta', ['of-ann', 'of-ann-1', 'of-bob']],
    ['Observation?subject:Patient.organization.partof.name=acme', ['of-bob']],
    ['Observation?subject:Patient.organization=Organization/acme', ['of-ann', 'of-ann-1']],
    ['Observation?subject:Patient.organization:missing=true', ['of-cat']],
    ['Observation?subject:Patient.organization.name=gone', []],
    ['Observation?subject:Patient.birthdate=lt2000', ['of-ann', 'of-ann-1']],
    ['Observation?subject:Patient.name:exact=Ann', ['of-ann', 'of-ann-1']],
    ['Observation?subject:Patient.name:contains=o', ['of-bob']],
    ['Observation?subject:Patient._id=ann,bob', ['of-ann', 'of-ann-1', 'of-bob']],
    ['Observation?subject:identifier=urn:p|1', ['of-known']],
    ['Observation?subject:Patient.identifier=urn:p|1', ['of-ann', 'of-ann-1']],
    ['Observation?subject:Patient.organization:identifier=urn:org|1', []],
    ['Patient?organization:identifier=urn:org|1', ['eve']],
    ['Observation?performer:Organization.name=beta&subject:Patient.name=bob', ['of-bob']],
    ['Observation?subject:Patient.name=ann&code=y', ['of-ann-1']],
    ['Observation?subject:Patient.name=ann&subject:Patient.name=bob', []],
    // Canonicals.
    ['QuestionnaireResponse?questionnaire.title=old', ['r0', 'r1']],
    ['QuestionnaireResponse?questionnaire.title=new', ['r1']],
    ['Questionnaire?_has:QuestionnaireResponse:questionnaire:_id=r0', ['q1']],
    ['Questionnaire?_has:QuestionnaireResponse:questionnaire:_id=r1', ['q1', 'q2']],
    // Reverse chains.
    ['Patient?_has:Observation:patient:code=x', ['ann', 'bob']],
    ['Patient?_has:Observation:patient:code=http://loinc.org|z', ['cat', 'dan']],
    ['Patient?_has:Observation:patient:code=x,z', ['ann', 'bob', 'cat', 'dan']],
    ['Patient?_has:Observation:subject:performer=Practitioner/house', ['ann']],
    ['Patient?_has:Group:member:_id=some', ['ann']],
    ['Organization?_has:Patient:organization:name=bob', ['beta']],
    ['Organization?_has:Patient:organization:_has:Observation:patient:code=x', ['acme', 'beta']],
    ['Organization?_has:Organization:partof:name=beta', ['acme']],
    ['Patient?_has:Observation:patient:code=x&_has:Encounter:patient:status=completed', ['bob']],
    // Both.
    ['Patient?_has:Observation:patient:performer:Organization.name=acme', ['bob']],
    ['Observation?patient._has:Group:member:_id=some', ['of-ann', 'of-ann-1']],
    ['Practitioner?_has:Patient:general-practitioner:organization.name=acme', ['house']],
    ['Patient?general-practitioner:Practitioner._has:Observation:performer:code=x', ['ann']],
    // Names of IHE MHD.
    ['DocumentReference?author.family=house', ['doc']],
    ['DocumentReference?patient.identifier=urn:p|1', ['doc']],
    ['DocumentReference?author.given=none', []],
  ])('%s', async (path, ids) => {
    const answer = await get(`/${path}`);
    expect(answer.status, answer.text).toBe(200);
    expect(idsOf(answer)).toEqual(ids);
    expect(answer.json().total).toBe(ids.length);
  });

  it.each([
    ['Observation?code.x=1', '400 parameter-unknown', 'only references lead on'],
    ['Observation?subject:Location.name:nope=1', '400 modifier-unknown', ':nope'],
    ['Observation?subject:Encounter.status=x', '400 parameter-', 'never refers to Encounter'],
    ['Observation?subject:Patient.nmae=1', '400 parameter-unknown', 'nmae'],
    ['Patient?_has:Observation:patient=x', '400 parameter-invalid', '_has:Type:reference:parameter'],
    ['Patient?_has:Obs:patient:code=x', '400 parameter-', 'Obs'],
    ['Patient?_has:Observation:encounter:code=x', '400 parameter-', 'Patient'],
    [`Organization?${'partof.'.repeat(50)}name=x`, '400 parameter-invalid', '8 links'],
    ['Observation?subject:Patient.birthdate=xx', '400 parameter-invalid', 'birthdate'],
    ['Observation?_sort=subject.name', '400 parameter-unknown', '_sort cannot go by "subject.name"'],
  ])('%s is refused: %s', async (path, code, text) => {
    const refusal = refusalOf(await get(`/${path}`));
    expect(refusal).toContain(text);
    expect(refusal.startsWith(code), refusal).toBe(true);
  });

  it('8 links are followed', async () => {
    expect(idsOf(await get(`/Organization?${'partof.'.repeat(8)}name=x`))).toEqual([]);
  });

  it('are counted, sorted and paged, and stand in self', async () => {
    const query = 'subject%3APatient.name=ann&_sort=-_id&_count=1';
    const first = await get(`/Observation?${query}`);
    expect([idsOf(first), first.json().total, linkOf(first, 'self')]).toEqual([
      ['of-ann-1'],
      2,
      `/Observation?${query}`,
    ]);
    const second = await get(linkOf(first, 'next')!);
    expect([idsOf(second), second.json().total, linkOf(second, 'next')]).toEqual([['of-ann'], 2, undefined]);
    const count = await get('/Observation?subject.name=ann&_summary=count');
    expect([count.json().total, count.json().entry]).toEqual([2, undefined]);
  });

  it('are posted', async () => {
    const form = '_has:Observation:patient:code=x&name=bob';
    const answer = await server.send('POST', '/Patient/_search', form, FORM_TYPE);
    expect([idsOf(answer), linkOf(answer, 'self')]).toEqual([['bob'], '/Patient/_search']);
  });

  it('that mean nothing are ignored where the client is lenient', async () => {
    const lenient = { prefer: 'handling=lenient' };
    const answer = await get('/Patient?name=bob&organization.nmae=x&_has:Observation:nope:code=y', lenient);
    expect([idsOf(answer), linkOf(answer, 'self')]).toEqual([['bob'], '/Patient?name=bob']);
    expect(notesOf(answer).map(({ code }) => code)).toEqual(['parameter-ignored', 'parameter-ignored']);
  });

  it('an empty one is told, its name is looked at all the same', async () => {
    const answer = await get('/Patient?organization.name=&name=bob');
    expect([idsOf(answer), notesOf(answer).map(({ code }) => code)]).toEqual([['bob'], ['parameter-empty']]);
    expect(refusalOf(await get('/Patient?organization.nmae='))).toContain('400 parameter-unknown');
  });

  it('follow what is written', async () => {
    await putAll(server, [patient('fay', 'Fay'), observation('of-fay', to('Patient/fay'), 'f')]);
    expect(idsOf(await get('/Observation?patient.name=fay'))).toEqual(['of-fay']);
    await putAll(server, [patient('fay', 'Gus')]);
    expect(idsOf(await get('/Observation?patient.name=fay'))).toEqual([]);
    expect(idsOf(await get('/Patient?_has:Observation:patient:code=f'))).toEqual(['fay']);
    await server.send('DELETE', '/Patient/fay');
    expect(idsOf(await get('/Observation?patient.name=gus'))).toEqual([]);
    await server.send('DELETE', '/Observation/of-fay');
    await putAll(server, [patient('fay', 'Fay')]);
    expect(idsOf(await get('/Patient?_has:Observation:patient:code=f'))).toEqual([]);
    await server.send('DELETE', '/Patient/fay');
  });

  describe('in a Bundle', () => {
    it('of type batch', async () => {
      const entry = ['Observation?patient.name=bob', 'Patient?_has:Nope:x:y=1'].map((url) => ({
        request: { method: 'GET', url },
      }));
      const answer = await server.send('POST', '', { resourceType: 'Bundle', type: 'batch', entry });
      const [found, failed] = answer.json().entry;
      expect(found.resource.entry.map(({ resource }: any) => resource.id)).toEqual(['of-bob']); // eslint-disable-line @typescript-eslint/no-explicit-any
      expect(failed.response.status).toBe('400 Bad Request');
    });

    it('of type transaction, at whose end they find what it wrote', async () => {
      const fullUrl = 'urn:uuid:0196b3c0-0000-7000-8000-000000000001';
      const entry = [
        { fullUrl, resource: patient('', 'New'), request: { method: 'POST', url: 'Patient' } },
        {
          resource: { ...observation('', to(fullUrl), 'new'), id: undefined },
          request: { method: 'POST', url: 'Observation' },
        },
        { request: { method: 'GET', url: 'Observation?patient.name=new' } },
        { request: { method: 'GET', url: `Observation?patient._id=${fullUrl}` } },
        { request: { method: 'GET', url: `Patient?_has:Observation:patient:subject=${fullUrl}` } },
        // Identifiers keep what looks like the name of an entry.
        { request: { method: 'GET', url: `Observation?patient.identifier=${fullUrl}` } },
        { request: { method: 'GET', url: `Observation?subject:identifier=${fullUrl}` } },
      ];
      const answer = await server.send('POST', '', { resourceType: 'Bundle', type: 'transaction', entry });
      expect(answer.status, answer.text).toBe(200);
      const bundles = answer
        .json()
        .entry.slice(2)
        .map(({ resource }: any) => resource); // eslint-disable-line @typescript-eslint/no-explicit-any
      expect(bundles.map(({ total }: { total: number }) => total)).toEqual([1, 1, 1, 0, 0]);
      for (const bundle of bundles.slice(3)) expect(decodeURIComponent(bundle.link[0].url)).toContain(fullUrl);
    });
  });
}
