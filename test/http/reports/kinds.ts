import { beforeAll, describe, expect, it } from 'vitest';

import type { Store } from '../../../runtime/store/store.js';
import { entry, transaction } from '../bundles/bundle-server.js';
import { observation, useReports } from './support.js';

/** Kinds of fault that users of FHIR servers reported, whatever the store. */
export function reportedKinds(store: Store): void {
  const { server, put, find, idsOf } = useReports(store);

  describe('R01: an instant is a point in time, a dateTime covers its second', () => {
    const event = (id: string, time: string) => ({
      ...{ resourceType: 'AuditEvent', id, code: { text: 'x' }, recorded: `2020-01-01T${time}` },
      ...{ agent: [{ who: { display: 'x' } }], source: { observer: { display: 'x' } } },
    });
    beforeAll(async () => {
      await put(event('r01a', '10:00:00Z'));
      await put(event('r01b', '10:00:00.500Z'));
      await put(observation('r01i', { effectiveInstant: '2020-01-01T10:00:00Z' }));
      await put(observation('r01d', { effectiveDateTime: '2020-01-01T10:00:00Z' }));
    });
    it('AuditEvent', async () => {
      expect(await find('AuditEvent?_id=r01a&date=gt2020-01-01T10:00:00.400Z')).toEqual([]);
      expect(await find('AuditEvent?_id=r01a&date=2020-01-01T10:00:00.000Z')).toEqual(['r01a']);
      expect(await find('AuditEvent?_id=r01a,r01b&_sort=-date')).toEqual(['r01b', 'r01a']);
      expect(await find('AuditEvent?_id=r01a,r01b&date=2020-01-01T10:00:00Z')).toEqual(['r01a', 'r01b']);
    });
    it('Observation.effective[x]', async () => {
      expect(await find('Observation?_id=r01i,r01d&date=gt2020-01-01T10:00:00.400Z')).toEqual(['r01d']);
      expect(await find('Observation?_id=r01i,r01d&date=2020-01-01')).toEqual(['r01d', 'r01i']);
    });
  });

  it('R02: a leap second belongs to its own day, month and year, in any zone', async () => {
    await put(observation('r02', { effectiveDateTime: '2016-12-31T23:59:60Z' }));
    for (const date of ['2016-12-31', '2016-12', '2016', '2016-12-31T23:59:60Z', 'lt2017']) {
      expect(await find(`Observation?_id=r02&date=${date}`), date).toEqual(['r02']);
    }
    expect(await find('Observation?_id=r02&date=2017')).toEqual([]);
  });

  describe('R04: white space in base64 is ignored', () => {
    it('in JSON and in XML, and the text stays as it was sent', async () => {
      const answer = await server.send('POST', '/Binary', { resourceType: 'Binary', contentType: 'text/plain', data: 'aGVs\nbG8=' }); // prettier-ignore
      expect(answer.status, answer.text).toBe(201);
      const { id } = answer.json();
      expect((await server.send('GET', `/Binary/${id}`, undefined, { accept: 'text/plain' })).text).toBe('hello');
      const patient = { resourceType: 'Patient', id: 'r04', photo: [{ data: ' aGVs bG8= ', hash: 'aGVs\r\nbG8=' }] };
      await put(patient);
      expect((await server.send('GET', '/Patient/r04')).json().photo).toEqual(patient.photo);
      const xml = '<Patient xmlns="http://hl7.org/fhir"><photo><data value="aGVs&#10;bG8="/></photo></Patient>';
      expect((await server.send('POST', '/Patient', xml, { 'content-type': 'application/fhir+xml' })).status).toBe(201);
      const bad = { resourceType: 'Patient', photo: [{ data: 'aGVs\nbG8' }] };
      expect((await server.send('POST', '/Patient', bad)).status).toBe(400);
      expect((await server.send('POST', '/Patient', { resourceType: 'Patient', photo: [{ data: ' ' }] })).status).toBe(
        400,
      );
    });
  });

  describe('R06: email, phone and telecom are compared without case', () => {
    beforeAll(async () => {
      const telecom = [
        { system: 'email', value: 'A.B@Example.org' },
        { system: 'phone', value: '555-CALL' },
      ];
      await put({ resourceType: 'Patient', id: 'r06', telecom });
      await put(observation('r06', { subject: { reference: 'Patient/r06' } }));
    });
    it('plain, with a system, in :not, behind chains and in filters', async () => {
      for (const query of [
        'email=a.b@example.org',
        'telecom=A.b@EXAMPLE.org',
        'phone=555-call',
        'telecom=a.b@example.ORG',
      ]) {
        expect(await find(`Patient?_id=r06&${query}`), query).toEqual(['r06']);
      }
      expect(await find('Patient?_id=r06&email:not=a.b@EXAMPLE.org')).toEqual([]);
      expect(await find('Patient?_id=r06&email=other@example.org')).toEqual([]);
      expect(await find('Observation?_id=r06&subject:Patient.email=A.B@EXAMPLE.ORG')).toEqual(['r06']);
      expect(await find('Patient?_has:Observation:subject:_id=r06&email=a.b@example.org')).toEqual(['r06']);
      expect(await find('Patient?_id=r06&_filter=email eq a.b@EXAMPLE.org')).toEqual(['r06']);
    });
  });

  describe('R09: http and https of one address are one server', () => {
    const other = () => `${server.url.replace('http://', 'https://')}/fhir`;
    beforeAll(async () => {
      await put({ resourceType: 'Patient', id: 'r09', name: [{ family: 'Nine' }] });
      await put(observation('r09', { subject: { reference: `${other()}/Patient/r09` } }));
      await put(observation('r09v', { subject: { reference: `${other()}/Patient/r09/_history/1` } }));
      await put(observation('r09x', { subject: { reference: `https://other.example/fhir/Patient/r09` } }));
    });
    it('by id, chain, include, revinclude, compartment and _has', async () => {
      const both = 'Observation?_id=r09,r09x';
      expect(await find(`${both}&subject=Patient/r09`)).toEqual(['r09']);
      expect(await find(`${both}&patient=r09`)).toEqual(['r09']);
      expect(await find(`${both}&subject=${server.url}/fhir/Patient/r09`)).toEqual(['r09']);
      expect(await find(`${both}&subject=${other()}/Patient/r09`)).toEqual(['r09']);
      expect(await find(`${both}&subject=http://other.example/fhir/Patient/r09`)).toEqual(['r09x']);
      expect(await find(`${both}&subject:Patient.family=nine`)).toEqual(['r09']);
      expect(await find(`${both}&_include=Observation:subject`, 'include')).toEqual(['r09']);
      expect(await find('Observation?_id=r09v&_include=Observation:subject', 'include')).toEqual(['r09']);
      expect(await find('Patient?_id=r09&_revinclude=Observation:subject', 'include')).toEqual(['r09', 'r09v']);
      expect(await find('Patient/r09/Observation?_id=r09')).toEqual(['r09']);
      expect(await find('Patient?_id=r09&_has:Observation:subject:status=final')).toEqual(['r09']);
    });
    it('in transactions: full URLs, request URLs, conditional references', async () => {
      const name = `${other()}/Patient/tmp`;
      const answer = await server.send(
        'POST',
        '',
        transaction(
          entry('POST', 'Patient', { resourceType: 'Patient' }, { fullUrl: `${server.url}/fhir/Patient/tmp` }),
          entry('PUT', `${other()}/Observation/r09t`, observation('r09t', { subject: { reference: name } })),
          entry('PUT', 'Observation/r09c', observation('r09c', { subject: { reference: `${other()}/Patient?family=nine` } })), // prettier-ignore
        ),
      );
      expect(answer.status, answer.text).toBe(200);
      const created = answer.json().entry[0].response.location.replace(/\/_history.*/, '');
      const { subject } = (await server.send('GET', '/Observation/r09t')).json();
      expect(subject.reference).toBe(created.slice(created.indexOf('Patient/')));
      expect((await server.send('GET', '/Observation/r09c')).json().subject.reference).toBe('Patient/r09');
    });
  });

  describe('R10: a chain through a reference that names a version says so', () => {
    it('in an outcome beside the matches, and nowhere else', async () => {
      await put({ resourceType: 'Patient', id: 'r10', name: [{ family: 'Old' }] });
      await put({ resourceType: 'Patient', id: 'r10', name: [{ family: 'New' }] });
      await put(observation('r10', { subject: { reference: 'Patient/r10/_history/1' } }));
      await put(observation('r10p', { subject: { reference: 'Patient/r10' } }));
      const answer = await server.send('GET', '/Observation?_id=r10&subject:Patient.family=new');
      expect(idsOf(answer)).toEqual(['r10']);
      const outcome = answer.json().entry.find(({ search }: { search: { mode: string } }) => search.mode === 'outcome');
      expect(outcome.resource.issue[0]).toMatchObject({ severity: 'warning' });
      expect(outcome.resource.issue[0].details.text).toContain('Observation/r10');
      expect(await find('Observation?_id=r10p&subject:Patient.family=new', 'outcome')).toEqual([]);
      expect(await find('Observation?_id=r10&subject=Patient/r10', 'outcome')).toEqual([]);
    });
  });

  describe('R11: :below on canonicals compares versions', () => {
    beforeAll(async () => {
      for (const [id, version] of [
        ['r11', ''],
        ['r11a', '|1'],
        ['r11b', '|1.2'],
        ['r11c', '|1.2.3'],
        ['r11d', '|12'],
      ] as const) {
        await put({ resourceType: 'Patient', id, meta: { profile: [`http://x.example/p${version}`] } });
        await put({
          resourceType: 'QuestionnaireResponse',
          id,
          status: 'completed',
          questionnaire: `http://x.example/q${version}`,
        });
      }
    });
    it('by the beginning of the version; without one all of them', async () => {
      const all = ['r11', 'r11a', 'r11b', 'r11c', 'r11d'];
      for (const [query, ids] of [
        ['', all],
        ['|1', ['r11a', 'r11b', 'r11c']],
        ['|1.2', ['r11b', 'r11c']],
        ['|1.2.3', ['r11c']],
        ['|2', []],
      ] as const) {
        expect(await find(`Patient?_profile:below=http://x.example/p${query}`), query).toEqual(ids);
        expect(await find(`QuestionnaireResponse?questionnaire:below=http://x.example/q${query}`), query).toEqual(ids);
      }
      expect(await find('Patient?_profile:below=http://x.example/none')).toEqual([]);
      const { rest } = (await server.send('GET', '/metadata')).json();
      expect(JSON.stringify(rest[0].searchParam)).toContain(':below');
    });
  });

  describe('R14: punctuation and repeated white space in strings are ignored', () => {
    beforeAll(async () => {
      const name = [{ family: "O'Brien" }, { family: 'St.  John' }, { family: 'Smith-Jones', given: ['Anne-Marie'] }];
      await put({ resourceType: 'Patient', id: 'r14', name, address: [{ line: ['12, High St.'] }] });
      await put({ resourceType: 'Patient', id: 'r14p', name: [{ family: '...' }] });
    });
    it('in the index and in the value, with :contains, chains and _filter; not in :exact', async () => {
      for (const query of [
        ...[
          'family=obrien',
          "family=O'BRIEN",
          'family=o’brien',
          'family=st john',
          'family=st. john',
          'family=smithjones',
        ],
        ...[
          'family=smith-jones',
          'family:contains=brien',
          'family:contains=t. jo',
          'address=12 high st',
          'given=annem',
        ],
        ...["family:exact=O'Brien", 'family:exact=St.  John', '_filter=family eq obrien', '_filter=family co "t john"'],
      ]) {
        expect(await find(`Patient?_id=r14&${query}`), query).toEqual(['r14']);
      }
      for (const query of ['family:exact=OBrien', 'family:exact=St. John', 'family=brien']) {
        expect(await find(`Patient?_id=r14&${query}`), query).toEqual([]);
      }
      expect(await find('Patient?_id=r14p&family:missing=true')).toEqual([]);
      expect(await find('Patient?_id=r14p&family:exact=...')).toEqual(['r14p']);
    });
  });

  describe('R17: _include brings the version that a reference names', () => {
    it('even where the resource is deleted, but not where that version is', async () => {
      await put({ resourceType: 'Patient', id: 'r17' });
      await server.send('DELETE', '/Patient/r17');
      await put(observation('r17', { subject: { reference: 'Patient/r17/_history/1' } }));
      await put(observation('r17d', { subject: { reference: 'Patient/r17/_history/2' } }));
      await put(observation('r17n', { subject: { reference: 'Patient/r17' } }));
      expect(await find('Observation?_id=r17&_include=Observation:subject', 'include')).toEqual(['r17']);
      expect(await find('Observation?_id=r17d&_include=Observation:subject', 'include')).toEqual([]);
      expect(await find('Observation?_id=r17n&_include=Observation:subject', 'include')).toEqual([]);
    });
  });

  describe('R18: a decimal that no search could compare is refused', () => {
    it('beyond a double and below it; others keep their digits', async () => {
      for (const value of ['1e400', '-1e400', '1e-400', '0.1e-400']) {
        const text = `{"resourceType":"Observation","id":"r18","status":"final","code":{"text":"x"},"valueQuantity":{"value":${value}}}`;
        const answer = await server.send('PUT', '/Observation/r18', text);
        expect(answer.status, value).toBe(400);
        expect(answer.json().issue[0].expression[0]).toContain('Observation.value');
      }
      for (const value of ['1e300', '0e400', '1.50e-300', '1000000000000000.00']) {
        const text = `{"resourceType":"Observation","id":"r18","status":"final","code":{"text":"x"},"valueQuantity":{"value":${value},"unit":"u"}}`;
        expect((await server.send('PUT', '/Observation/r18', text)).status, value).toBeLessThan(300);
        expect((await server.send('GET', '/Observation/r18')).text).toContain(`"value":${value}`);
        expect(await find('Observation?_id=r18&value-quantity:missing=true')).toEqual([]);
      }
    });
  });

  it('R19: a Period that ends before it starts is not missing', async () => {
    await put({
      ...{ resourceType: 'Encounter', id: 'r19', status: 'completed' },
      actualPeriod: { start: '2020-02-01', end: '2020-01-01' },
    });
    expect(await find('Encounter?_id=r19&date:missing=true')).toEqual([]);
    expect(await find('Encounter?_id=r19&date=ge2020-01-01')).toEqual(['r19']);
  });
}
