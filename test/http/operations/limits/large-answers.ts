import { beforeAll, describe, expect, it } from 'vitest';

import type { Store } from '../../../../runtime/store/store.js';
import { processorTime } from '../../../processor-time.js';
import { scopedServer } from '../../auth/scoped.js';
import { codeOf, type Answer } from '../../server.js';
import { expectRefusal } from '../../write-server.js';

/** Characters of one record: four are more than one answer may hold. */
const LARGE = 9_000_000;

/** What answers hold at a time does not grow with what is stored. */
export function largeAnswers(store: Store): void {
  const server = scopedServer(store);
  const put = async (body: { resourceType: string; id: string; [name: string]: unknown }): Promise<void> => {
    const answer = await server.all.send('PUT', `/${body.resourceType}/${body.id}`, body);
    expect(answer.status, answer.text).toBe(201);
  };
  const get = (path: string) => server.all.send('GET', path);
  const call = (path: string, parameter: readonly object[]) =>
    server.all.send('POST', path, { resourceType: 'Parameters', parameter });
  const ids = ['1', '2', '3', '4'];
  const note = Array.from({ length: 9 }, () => ({ text: 'x'.repeat(LARGE / 9) }));

  beforeAll(async () => {
    const author = [{ reference: 'Patient/small' }];
    await put({ resourceType: 'Patient', id: 'small' });
    for (const id of ids) {
      await put({ resourceType: 'Patient', id, birthDate: '1950-05-05', name: [{ family: 'Large', given: ['A'] }], gender: 'male', photo: [{ data: 'QUJD'.repeat(LARGE / 4) }] }); // prettier-ignore
      await put({ resourceType: 'Observation', id, status: 'final', code: { coding: [{ system: 'urn:s', code: id }] }, subject: { reference: 'Patient/small' }, valueQuantity: { value: 1 }, note }); // prettier-ignore
      await put({ resourceType: 'Device', id, note });
    }
    await put({ resourceType: 'Composition', id: 'c', status: 'final', type: { text: 'x' }, date: '2024', title: 'x', author, section: [{ title: 'x', entry: ids.map((id) => ({ reference: `Device/${id}` })) }] }); // prettier-ignore
    const link = (id: string) => ({ other: { reference: `Device/${id}` } });
    await put({ resourceType: 'Encounter', id: 'e', status: 'completed', extension: ids.map((id) => ({ url: 'urn:x', valueReference: link(id).other })) }); // prettier-ignore
  }, 120_000);

  const expectTooMuch = (answer: Answer, hint: string): void => {
    expect([answer.status, codeOf(answer)], answer.text.slice(0, 500)).toEqual([503, 'too-costly']);
    expect(answer.text).toContain(hint);
  };

  describe('answers that would be too large', () => {
    it('$match keeps the best, and names what would be less', async () => {
      const resource = { resourceType: 'Patient', birthDate: '1950-05-05', name: [{ family: 'Large', given: ['A'] }], gender: 'male' }; // prettier-ignore
      expectTooMuch(await call('/Patient/$match', [{ name: 'resource', resource }]), 'count');
      const few = await call('/Patient/$match', [
        { name: 'resource', resource },
        { name: 'count', valueInteger: 2 },
      ]);
      expect(few.json().entry.map((each: { resource: { id: string } }) => each.resource.id)).toEqual(['1', '2']);
    });

    it('$lastn', async () => {
      expectTooMuch(await get('/Observation/$lastn?patient=Patient/small&code=urn:s%7C'), 'criteria');
    });

    it('$stats with its sources', async () => {
      const parameter = [
        { name: 'subject', valueUri: 'Patient/small' },
        { name: 'statistic', valueCode: 'count' },
        ...ids.map((code) => ({ name: 'coding', valueCoding: { system: 'urn:s', code } })),
      ];
      expect((await call('/Observation/$stats', parameter)).status).toBe(200);
      expectTooMuch(
        await call('/Observation/$stats', [...parameter, { name: 'include', valueBoolean: true }]),
        'limit',
      );
    });

    it('$document', async () => expectTooMuch(await get('/Composition/c/$document'), 'document'));

    it('GraphQL whose FHIRPath takes long shares one limit: each resource had one of its own', async () => {
      const family = Array.from({ length: 600 }, (_, n) => ({ family: `Family ${n}`, given: ['A', 'B'] }));
      for (let n = 0; n < 12; n++) await put({ resourceType: 'Practitioner', id: `p${n}`, name: family });
      const costly = "%resource.name.where(given.where($this = 'B').exists()).count() > 0";
      const list = '{ PractitionerList { id name(fhirpath: "' + costly + '") { family } } }';
      const elapsed = processorTime();
      const answer = await server.all.send(
        'POST',
        '/$graphql',
        { query: list },
        { 'content-type': 'application/json' },
      );
      expect(answer.text.slice(0, 2000)).toContain('FHIRPath');
      // It took half a second for each.
      expect(elapsed()).toBeLessThan(4000);
    });

    it('$snapshot names how many elements a differential may have: 20,000 slices took seconds', async () => {
      const element = Array.from({ length: 1001 }, (_, n) => ({ path: 'Patient.identifier', sliceName: `s${n}` }));
      const resource = {
        ...{ resourceType: 'StructureDefinition', url: 'http://p.example/many', name: 'Many', status: 'draft', kind: 'resource' }, // prettier-ignore
        ...{ abstract: false, type: 'Patient', baseDefinition: 'http://hl7.org/fhir/StructureDefinition/Patient' },
        ...{ derivation: 'constraint', differential: { element } },
      };
      const answer = await call('/StructureDefinition/$snapshot', [{ name: 'definition', resource }]);
      expect(codeOf(answer)).toBe('snapshot-impossible');
      expect(answer.text).toContain('may have 1000');
    });

    it('$diff of versions that differ in thousands of items is refused: it took seconds', async () => {
      const names = (of: string) => Array.from({ length: 6000 }, (_, n) => ({ family: `${of}${n}` }));
      await put({ resourceType: 'Person', id: 'd', name: names('a') });
      const second = await server.all.send('PUT', '/Person/d', { resourceType: 'Person', id: 'd', name: names('b') });
      expect(second.status, second.text).toBe(200);
      expectRefusal(await get('/Person/d/$diff'), 422, 'diff-impossible', '10000 items', 'Person.name');
    });

    it('GraphQL reads resources of 64 MB together', async () => {
      const length = async (path: string): Promise<number> => (await get(path)).text.length;
      const names = ['Patient/1', 'Patient/2', 'Patient/3', 'Patient/4', 'Device/1', 'Device/2', 'Device/3'];
      let left = 64 * 2 ** 20;
      for (const name of names) left -= await length(`/${name}`);
      const whole = Math.floor((left - 2000) / 1_000_012);
      const filling = (count: number) => ({
        ...{ resourceType: 'Device', id: 'filling' },
        note: [...Array<number>(whole).fill(1_000_000), count].map((each) => ({ text: 'x'.repeat(each) })),
      });
      await put(filling(1));
      const most = left - (await length('/Device/filling')) + 1;
      const send = async (count: number): Promise<Answer> => {
        const { status } = await server.all.send('PUT', '/Device/filling', filling(count));
        expect(status).toBe(200);
        const fields = [...names, 'Device/filling'].map((name, n) => {
          const [type, id] = name.split('/');
          return `f${n}: ${type}(id: "${id}") { id }`;
        });
        const body = { query: `{ ${fields.join(' ')} }` };
        return server.all.send('POST', '/$graphql', body, { 'content-type': 'application/json' });
      };
      const answer = await send(most);
      expect(answer.json().errors).toBeUndefined();
      expect(answer.json().data.f7).toEqual({ id: 'filling' });
      const more = await send(most + 1);
      expect(more.text).toContain('more than 67108864 characters');
      expect(more.json().errors[0].extensions.code).toBe('graphql-limit');
      await server.all.send('DELETE', '/Device/filling');
    });

    it('HFQL that sorts what is large', async () => {
      const select = (query: string) =>
        call('/$hfql-execute', [
          { name: 'action', valueCode: 'search' },
          { name: 'query', valueString: query },
        ]);
      expect((await select('select * from Device order by id')).text).toContain('too large together');
      expect((await select('select id from Device order by id desc')).text).toContain('0,4');
    });

    it('$everything goes on page by page, with what members refer to as well', async () => {
      const seen: string[] = [];
      const sizes: number[] = [];
      for (let next: string | undefined = '/Encounter/e/$everything?_count=1000'; next !== undefined;) {
        const answer: Answer = await get(next);
        expect(answer.status, answer.text.slice(0, 500)).toBe(200);
        const { entry = [], link } = answer.json() as {
          entry?: { resource: { resourceType: string; id: string } }[];
          link: { relation: string; url: string }[];
        };
        sizes.push(answer.text.length);
        seen.push(...entry.map(({ resource }) => `${resource.resourceType}/${resource.id}`));
        const url = link.find(({ relation }) => relation === 'next')?.url;
        next = url?.slice(url.indexOf('/fhir') + 5);
      }
      expect(seen.sort()).toEqual([...ids.map((id) => `Device/${id}`), 'Encounter/e'].sort());
      expect(sizes.length).toBeGreaterThan(1);
      expect(Math.max(...sizes)).toBeLessThan(3 * LARGE);
      const members = await get('/Patient/small/$everything?_count=1000');
      expect(members.text.length).toBeLessThan(4.5 * LARGE);
      expect(members.text).toContain('"relation":"next"');
    });
  });
}
