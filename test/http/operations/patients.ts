import { beforeAll, describe, expect, it } from 'vitest';

import type { Store } from '../../../runtime/store/store.js';
import { scopedServer } from '../auth/scoped.js';
import { batch, responsesOf } from '../bundles/bundle-server.js';
import type { Answer } from '../server.js';
import { expectRefusal } from '../write-server.js';

const MRN = 'http://hospital.example/mrn';

/** `Patient/$match`, `List/$find` and `DocumentReference/$docref` */
export function patients(store: Store): void {
  const server = scopedServer(store);
  const put = async (body: { resourceType: string; id: string; [name: string]: unknown }): Promise<void> => {
    const answer = await server.all.send('PUT', `/${body.resourceType}/${body.id}`, body);
    expect(answer.status, answer.text).toBe(201);
  };
  const get = (path: string) => server.all.send('GET', path);

  beforeAll(async () => {
    const person = { gender: 'female', birthDate: '1970-01-02' };
    await put({ resourceType: 'Patient', id: 'a', ...person, identifier: [{ system: MRN, value: '1' }], name: [{ family: 'Müller', given: ['Anna'] }] }); // prettier-ignore
    await put({ resourceType: 'Patient', id: 'b', ...person, identifier: [{ system: MRN, value: '2' }], name: [{ family: 'Muller', given: ['Anna'] }] }); // prettier-ignore
    await put({ resourceType: 'Patient', id: 'c', gender: 'male', birthDate: '1970-01-02', name: [{ family: 'Smith', given: ['Bob'] }] }); // prettier-ignore
    await put({ resourceType: 'Patient', id: 'd', meta: { tag: [{ code: 'x' }] }, identifier: [{ system: MRN, value: '1' }], birthDate: '1980-01-01' }); // prettier-ignore
  });

  describe('$match (patient-operation-match.html)', () => {
    const match = (patient: object, more: readonly object[] = [], who = server.all) => {
      const parameter = [{ name: 'resource', resource: { resourceType: 'Patient', ...patient } }, ...more];
      return who.send('POST', '/Patient/$match', { resourceType: 'Parameters', parameter });
    };
    const graded = (answer: Answer): string[] => {
      expect(answer.status, answer.text).toBe(200);
      const { entry = [], total } = answer.json();
      expect(total).toBe(entry.length);
      return entry.map(
        ({ resource, search }: { resource: { id: string }; search: { extension: [{ valueCode: string }] } }) =>
          `${resource.id} ${search.extension[0].valueCode}`,
      );
    };

    it('a common identifier is certain, unless the birth date contradicts', async () => {
      const patient = { identifier: [{ system: MRN, value: '1' }], birthDate: '1970-01-02' };
      expect(graded(await match(patient))).toEqual(['a certain', 'd possible']);
      expect(graded(await match(patient, [{ name: 'onlyCertainMatches', valueBoolean: true }]))).toEqual(['a certain']);
      expect(graded(await match(patient, [{ name: 'count', valueInteger: 1 }]))).toEqual(['a certain']);
      expect(graded(await match({ identifier: [{ system: MRN, value: '9' }] }))).toEqual([]);
    });

    it('names and dates make it probable, best first, whatever case and accents', async () => {
      const patient = { name: [{ family: 'MULLER', given: ['anna'] }], gender: 'female', birthDate: '1970-01-02' };
      const answer = await match(patient);
      expect(graded(answer)).toEqual(['a probable', 'b probable']);
      expect(answer.json().entry[0].search).toMatchObject({ mode: 'match', score: 0.85 });
      expect((await match(patient)).text.replace(/lastUpdated":"[^"]*/, '')).toBe(
        answer.text.replace(/lastUpdated":"[^"]*/, ''),
      );
      const raw = await server.all.send('POST', '/Patient/$match', { resourceType: 'Patient', ...patient });
      expect(graded(raw)).toEqual(['a probable', 'b probable']);
      expect(graded(await match({ ...patient, gender: 'male' }))).toEqual(['a possible', 'b possible']);
    });

    it('a patient that is not valid is looked for all the same', async () => {
      const partial = {
        identifier: [{ system: MRN, value: '1' }],
        contact: [{ gender: 'female' }],
        communication: [{ preferred: true }],
        link: [{ type: 'seealso' }],
        gender: 'nonsense',
        multipleBirthInteger: 'two',
      };
      expect(graded(await match({ ...partial, gender: undefined }))).toContain('a certain');
      expect((await match(partial)).status).toBe(200);
      const raw = { resourceType: 'Patient', ...partial };
      expect((await server.all.send('POST', '/Patient/$match', raw)).status).toBe(200);
      expectRefusal(await match({ name: [{ family: 7 }], birthDate: 'long ago' }), 400, 'parameter-invalid');
      const none = { resourceType: 'Parameters', parameter: [{ name: 'count', valueInteger: 1 }] };
      expectRefusal(await server.all.send('POST', '/Patient/$match', none), 400, 'parameter-invalid', '"resource"');
    });

    it('needs an identifier, or a name and a birth date', async () => {
      expectRefusal(
        await match({ name: [{ family: 'Müller' }] }),
        400,
        'parameter-invalid',
        'identifier',
        'birth date',
      );
      expectRefusal(await match({ birthDate: '1970-01-02' }), 400, 'parameter-invalid');
      const other = { resourceType: 'Parameters', parameter: [{ name: 'resource', resource: { resourceType: 'Basic', code: {} } }] }; // prettier-ignore
      expect((await server.all.send('POST', '/Patient/$match', other)).status).toBe(400);
      expectRefusal(await match({ identifier: [{ value: '1' }] }, [{ name: 'count', valueInteger: 0 }]), 400, 'parameter-invalid'); // prettier-ignore
      expectRefusal(await get('/Patient/$match'), 405, 'method-not-allowed');
    });

    it('finds for a token what it may search', async () => {
      const patient = { identifier: [{ system: MRN, value: '1' }] };
      const narrow = Object.assign(Object.create(server.all), server.as('system/Patient.s?_tag=x'));
      expect(graded(await match(patient, [], narrow))).toEqual(['d certain']);
      const refused = await match(patient, [], Object.assign(Object.create(server.all), server.as('system/Patient.r')));
      expect(refused.status).toBe(403);
    });
  });

  describe('List/$find (list-operation-find.html)', () => {
    const list = (id: string, more: object) => ({
      ...{ resourceType: 'List', id, status: 'current', mode: 'working' },
      ...{ code: { coding: [{ code: 'current-problems' }] }, subject: [{ reference: 'Patient/a' }] },
      ...more,
    });

    it('is the newest current working list of the patient', async () => {
      await put(list('old', { date: '2020-01-01' }));
      await put(list('new', { date: '2021-01-01' }));
      await put(list('snapshot', { date: '2022-01-01', mode: 'snapshot' }));
      await put(list('retired', { date: '2022-01-01', status: 'retired' }));
      await put(list('other', { date: '2022-01-01', subject: [{ reference: 'Patient/b' }] }));
      const answer = await get('/List/$find?patient=a&name=current-problems');
      expect([answer.status, answer.json().id]).toEqual([200, 'new']);
      expect(answer.headers['content-location']).toContain('/List/new/_history/1');
      const entry = { request: { method: 'GET', url: 'List/$find?patient=a&name=current-problems' } };
      expect((await server.all.send('POST', '/', batch(entry))).json().entry[0].resource.id).toBe('new');
      expectRefusal(await get('/List/$find?patient=c&name=current-problems'), 404, 'not-found');
      expectRefusal(await get('/List/$find?patient=a&name=current-allergies'), 404, 'not-found');
      expectRefusal(await get('/List/$find?patient=a&name=nonsense'), 400, 'parameter-invalid', 'current-problems');
      expectRefusal(await get('/List/$find?patient=a'), 400, 'parameter-invalid', 'name');
      const none = await server.as('system/List.s?_tag=x').send('GET', '/List/$find?patient=a&name=current-problems');
      expectRefusal(none, 404, 'not-found');
      expect((await server.as('system/List.r').send('GET', '/List/$find?patient=a&name=x')).status).toBe(403);
    });
  });

  describe('DocumentReference/$docref (documentreference-operation-docref.html)', () => {
    it('finds the documents of a patient by type and period', async () => {
      const document = (id: string, more: object) => ({
        ...{ resourceType: 'DocumentReference', id, status: 'current', subject: { reference: 'Patient/a' } },
        content: [{ attachment: { url: 'http://x.example/1' } }],
        ...more,
      });
      const type = (code: string) => ({ coding: [{ system: 'http://loinc.org', code }] });
      await put(document('one', { type: type('34133-9'), period: { start: '2020-01-01', end: '2020-02-01' } }));
      await put(document('two', { type: type('11488-4'), period: { start: '2021-01-01', end: '2021-02-01' } }));
      const ids = (answer: Answer) => {
        expect(answer.status, answer.text).toBe(200);
        return (answer.json().entry ?? []).map(({ resource }: { resource: { id: string } }) => resource.id).sort();
      };
      // Without _sort no order is promised.
      expect(ids(await get('/DocumentReference/$docref?patient=a&start=2000'))).toEqual(['one', 'two']);
      expect(ids(await get('/DocumentReference/$docref?patient=a&start=2020-06-01'))).toEqual(['two']);
      expect(ids(await get('/DocumentReference/$docref?patient=a&end=2020-06-01'))).toEqual(['one']);
      const parameter = [
        { name: 'patient', valueId: 'a' },
        { name: 'type', valueCodeableConcept: type('11488-4') },
      ];
      const posted = await server.all.send('POST', '/DocumentReference/$docref', {
        resourceType: 'Parameters',
        parameter,
      });
      expect(ids(posted)).toEqual(['two']);
      expectRefusal(await get('/DocumentReference/$docref'), 400, 'parameter-invalid', 'patient');
      expect((await server.as('system/Patient.s').send('GET', '/DocumentReference/$docref?patient=a')).status).toBe(
        403,
      );
      const entry = { request: { method: 'GET', url: 'DocumentReference/$docref?patient=a' } };
      expect(responsesOf(await server.all.send('POST', '/', batch(entry)))[0].status).toBe('200 OK');
    });
  });

  it('$docref without dates: the most recent that is current, a summary of care before all others', async () => {
    const make = (id: string, code: string, date: string, more: object = {}) =>
      put({
        ...{ resourceType: 'DocumentReference', id, status: 'current', subject: { reference: 'Patient/docs' }, date },
        ...{ type: { coding: [{ system: 'http://loinc.org', code }] }, content: [{ attachment: { title: 'x' } }] },
        ...more,
      });
    await put({ resourceType: 'Patient', id: 'docs' });
    await make('d1', '11488-4', '2024-01-01T00:00:00Z');
    await make('d2', '11488-4', '2024-03-01T00:00:00Z');
    await make('d3', '11488-4', '2024-04-01T00:00:00Z', { status: 'superseded' });
    const found = async (query = '') => {
      const answer = await get(`/DocumentReference/$docref?patient=docs${query}`);
      expect([answer.status, answer.json().type]).toEqual([200, 'searchset']);
      return (answer.json().entry ?? []).map(({ resource }: { resource: { id: string } }) => resource.id);
    };
    expect(await found()).toEqual(['d2']);
    await make('d4', '34133-9', '2023-01-01T00:00:00Z');
    await make('d5', '34133-9', '2023-02-01T00:00:00Z');
    expect(await found()).toEqual(['d5']);
    await make('d6', 'x', '2020-01-01T00:00:00Z', { status: 'entered-in-error', period: { start: '2020-01-01' } });
    await make('d7', 'x', '2020-01-01T00:00:00Z', { status: 'superseded', period: { start: '2020-01-01' } });
    expect(await found('&start=2019&end=2021')).toEqual(['d7']);
    // Documents are not made on demand.
    for (const query of ['', '&start=2019']) expect(await found(`&on-demand=true${query}`)).toEqual([]);
  });

  it('leaves no defects', () => expect(server.defects).toEqual([]));
}
