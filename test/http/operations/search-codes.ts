import { beforeAll, describe, expect, it } from 'vitest';

import type { Store } from '../../../runtime/store/store.js';
import { scopedServer } from '../auth/scoped.js';
import { batch, responsesOf } from '../bundles/bundle-server.js';
import type { Answer } from '../server.js';
import { expectRefusal } from '../write-server.js';

const CS = 'http://cs.example/parts';
const VS = 'http://vs.example/legs';
const ANY_CASE = 'http://cs.example/any-case';

/** `:in`, `:not-in`, `:above` and `:below` of tokens. https://hl7.org/fhir/R5/search.html#modifiers */
export function searchByCodes(store: Store): void {
  const server = scopedServer(store);
  const get = (path: string) => server.all.send('GET', path);
  const put = async (body: { resourceType: string; id: string; [name: string]: unknown }): Promise<void> => {
    const answer = await server.all.send('PUT', `/${body.resourceType}/${body.id}`, body);
    expect(answer.status, answer.text).toBeLessThan(300);
  };
  const idsOf = (answer: Answer): string[] => {
    expect(answer.status, answer.text).toBe(200);
    return (answer.json().entry ?? []).map(({ resource }: { resource: { id: string } }) => resource.id);
  };
  const observation = (id: string, code?: string) =>
    put({
      ...{ resourceType: 'Observation', id, status: 'final', subject: { reference: 'Patient/p' } },
      code: code === undefined ? { text: 'words' } : { coding: [{ system: CS, code }] },
    });

  beforeAll(async () => {
    await put({
      ...{ resourceType: 'CodeSystem', id: 'parts', url: CS, status: 'active', content: 'complete' },
      concept: [{ code: 'limb', concept: [{ code: 'leg', concept: [{ code: 'knee' }] }, { code: 'arm' }] }],
    });
    const compose = { include: [{ system: CS, filter: [{ property: 'concept', op: 'is-a', value: 'leg' }] }] };
    await put({ resourceType: 'ValueSet', id: 'legs', url: VS, status: 'active', compose });
    const many = Array.from({ length: 5001 }, (_, i) => ({ code: `c${i}` }));
    await put({ resourceType: 'CodeSystem', id: 'many', url: 'http://cs.example/many', status: 'active', content: 'complete', concept: many }); // prettier-ignore
    await put({ resourceType: 'ValueSet', id: 'many', url: 'http://vs.example/many', status: 'active', compose: { include: [{ system: 'http://cs.example/many' }] } }); // prettier-ignore
    await put({ resourceType: 'Patient', id: 'p', gender: 'male' });
    const anyCase = { url: ANY_CASE, status: 'active', content: 'complete', caseSensitive: false };
    await put({ resourceType: 'CodeSystem', id: 'any-case', ...anyCase, concept: [{ code: 'Top', concept: [{ code: 'Upper' }] }, { code: 'Other' }] }); // prettier-ignore
    await put({ resourceType: 'ValueSet', id: 'any-case', url: 'http://vs.example/any-case', status: 'active', compose: { include: [{ system: ANY_CASE, concept: [{ code: 'Upper' }] }] } }); // prettier-ignore
    for (const code of ['uppER', 'OTHER']) await put({ resourceType: 'Basic', id: code, code: { coding: [{ system: ANY_CASE, code }] } }); // prettier-ignore
    for (const code of ['limb', 'leg', 'knee', 'arm']) await observation(code, code);
    await observation('words');
  });

  it.each([
    [`code:in=${VS}`, ['knee', 'leg']],
    ['code:in=ValueSet/legs', ['knee', 'leg']],
    [`code:not-in=${VS}`, ['arm', 'limb', 'words']],
    [`code:below=${CS}|leg`, ['knee', 'leg']],
    [`code:above=${CS}|leg`, ['leg', 'limb']],
    [`code:below=${CS}|knee,${CS}|arm`, ['arm', 'knee']],
    [`code:in=${VS}&code:below=${CS}|knee`, ['knee']],
    ['subject:Patient.gender:in=http://hl7.org/fhir/ValueSet/administrative-gender&code:in=ValueSet/legs', ['knee', 'leg']], // prettier-ignore
  ])('%s', async (query, ids) => {
    expect(idsOf(await get(`/Observation?${query}`)).sort()).toEqual(ids);
  });

  it.each([
    ['code:in=http://vs.example/any-case', ['uppER']],
    ['code:not-in=http://vs.example/any-case', ['OTHER']],
    [`code:below=${ANY_CASE}|top`, ['uppER']],
    [`code:above=${ANY_CASE}|UPPER`, ['uppER']],
  ])('%s: case does not count where the code system says so', async (query, ids) => {
    expect(idsOf(await get(`/Basic?${query}`))).toEqual(ids);
  });

  it('":in: the value is a URI (relative or absolute) of a value set": one below the base of the server', async () => {
    const self = (await get('/Observation')).json().link[0].url as string;
    const base = self.slice(0, self.indexOf('/Observation'));
    expect(idsOf(await get(`/Observation?code:in=${base}/ValueSet/legs`)).sort()).toEqual(['knee', 'leg']);
    expectRefusal(await get(`/Observation?code:in=${base}/ValueSet/none`), 400, 'parameter-invalid', 'ValueSet/none');
    const narrow = server.as('system/Observation.rs system/CodeSystem.rs');
    expectRefusal(await narrow.send('GET', `/Observation?code:in=${base}/ValueSet/legs`), 400, 'parameter-invalid', 'legs'); // prettier-ignore
  });

  const CODED = 'http://hl7.org/fhir/ValueSet/administrative-gender';
  it.each([
    [`code in ${VS}`, ['knee', 'leg']],
    ['code in ValueSet/legs', ['knee', 'leg']],
    [`code ni ${VS}`, ['arm', 'limb', 'words']],
    [`code ss ${CS}|leg`, ['knee', 'leg']],
    [`code sb ${CS}|leg`, ['leg', 'limb']],
    [`code in ${VS} and not (code eq ${CS}|knee)`, ['leg']],
    [`not (code in ${VS}) and status eq final`, ['arm', 'limb', 'words']],
    [`(code sb ${CS}|leg or code eq ${CS}|arm) and subject:Patient.gender in ${CODED}`, ['arm', 'leg', 'limb']],
  ])('_filter=%s (search_filter.html#ops)', async (filter, ids) => {
    expect(idsOf(await get(`/Observation?_filter=${encodeURIComponent(filter)}`)).sort()).toEqual(ids);
  });

  it('_filter through a reverse chain; it refuses what is unknown, and searches of several types', async () => {
    const filtered = (path: string, filter: string) => get(`${path}?_filter=${encodeURIComponent(filter)}`);
    expect(idsOf(await filtered('/Patient', `_has:Observation:subject:code ss ${CS}|knee`))).toEqual(['p']);
    expectRefusal(await filtered('/Observation', 'code in http://none.example'), 400, 'parameter-invalid', 'none.example'); // prettier-ignore
    expectRefusal(await filtered('/Observation', 'code ss leg'), 400, 'parameter-invalid', 'system|code');
    expectRefusal(
      await filtered('/Observation', 'code in http://vs.example/many'),
      422,
      'expansion-too-costly',
      '5000',
    );
    expectRefusal(await filtered('/', `_tag in ${VS}`), 400, 'parameter-invalid', 'one type');
    const narrow = server.as('system/Observation.rs system/CodeSystem.rs');
    expectRefusal(await narrow.send('GET', `/Observation?_filter=${encodeURIComponent(`code in ${VS}`)}`), 400, 'parameter-invalid', VS); // prettier-ignore
  });

  it('through a reverse chain, in a count, in a batch, by POST', async () => {
    expect(idsOf(await get(`/Patient?_has:Observation:subject:code:in=${VS}`))).toEqual(['p']);
    expect((await get(`/Observation?code:in=${VS}&_summary=count`)).json().total).toBe(2);
    const entry = { request: { method: 'GET', url: `Observation?code:in=${VS}` } };
    expect(responsesOf(await server.all.send('POST', '/', batch(entry)))[0].status).toBe('200 OK');
    const form = { 'content-type': 'application/x-www-form-urlencoded' };
    expect(idsOf(await server.all.send('POST', '/Observation/_search', `code:in=${encodeURIComponent(VS)}`, form))).toHaveLength(2); // prettier-ignore
  });

  describe('refuses', () => {
    it('what is unknown, too large, or no code', async () => {
      expectRefusal(await get('/Observation?code:in=http://none.example'), 400, 'parameter-invalid', 'none.example');
      expectRefusal(await get('/Observation?code:in=ValueSet/none'), 400, 'parameter-invalid', 'ValueSet/none');
      expectRefusal(
        await get('/Observation?code:below=http://none.example|x'),
        400,
        'parameter-invalid',
        'none.example',
      );
      expectRefusal(await get(`/Observation?code:below=${CS}|nose`), 400, 'parameter-invalid', 'nose');
      expectRefusal(await get('/Observation?code:below=leg'), 400, 'parameter-invalid', 'system|code');
      expectRefusal(await get('/Observation?code:in=http://vs.example/many'), 422, 'expansion-too-costly', '5000');
      expectRefusal(await get('/Observation?_id:in=x'), 400, 'modifier-unknown');
    });
    it('a value set that the token may not see, as if it were not there', async () => {
      const narrow = server.as('system/Observation.rs system/CodeSystem.rs');
      expectRefusal(await narrow.send('GET', `/Observation?code:in=${VS}`), 400, 'parameter-invalid', VS);
      expectRefusal(await narrow.send('GET', '/Observation?code:in=ValueSet/legs'), 400, 'parameter-invalid', 'legs');
      const wide = server.as('system/Observation.rs system/CodeSystem.rs system/ValueSet.rs');
      expect(idsOf(await wide.send('GET', `/Observation?code:in=${VS}`))).toHaveLength(2);
    });
  });

  it('leaves no defects', () => expect(server.defects).toEqual([]));
}
