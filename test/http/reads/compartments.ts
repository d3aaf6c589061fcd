import { beforeAll, describe, expect, it } from 'vitest';

import { tables } from '../../../generated/tables.js';
import type { Store } from '../../../runtime/store/store.js';
import {
  FORM_TYPE,
  idsOf,
  includedIn,
  linkOf,
  notesOf,
  putAll,
  refusalOf,
  useWholeServer,
  withTotal,
} from '../search-server.js';
import { codeOf, type Answer } from '../server.js';

const to = (reference: string) => ({ reference });
const observation = (id: string, more: object) => ({
  resourceType: 'Observation',
  id,
  status: 'final',
  code: { coding: [{ code: id.startsWith('x') ? 'x' : 'y' }] },
  ...more,
});

/** `Type/id` of the matches, in their order. */
export function namesOf(answer: Answer): string[] {
  expect(answer.status, answer.text).toBe(200);
  const entries: { resource: { resourceType: string; id: string }; search: { mode: string } }[] =
    answer.json().entry ?? [];
  return entries
    .filter(({ search }) => search.mode === 'match')
    .map(({ resource: { resourceType, id } }) => `${resourceType}/${id}`);
}

/** Searches in compartments, whatever the store. https://hl7.org/fhir/R5/compartmentdefinition.html */
export function compartmentSearches(data: Store): void {
  const server = useWholeServer({ store: data });
  const get = (path: string, headers: Record<string, string> = {}) => server.send('GET', path, undefined, headers);

  beforeAll(async () => {
    const here = `${server.url}/fhir`;
    await putAll(server, [
      { resourceType: 'Patient', id: '1', name: [{ family: 'One' }] },
      { resourceType: 'Patient', id: '2', link: [{ other: to('Patient/1'), type: 'seealso' }] },
      { resourceType: 'Practitioner', id: '1' },
      { resourceType: 'Device', id: '1' },
      { resourceType: 'RelatedPerson', id: '1', patient: to('Patient/1') },
      { resourceType: 'Encounter', id: '1', status: 'completed', subject: to('Patient/1') },
      observation('x1', { subject: to('Patient/1'), encounter: to('Encounter/1') }),
      observation('x2', { subject: to('Patient/1/_history/1'), performer: [to('Practitioner/1')] }),
      observation('x3', { subject: to(`${here}/Patient/1`) }),
      observation('y4', { subject: to('Patient/1'), device: to('Device/1') }),
      // By another parameter, twice, and in other compartments.
      observation('y5', { performer: [to('Patient/1')] }),
      observation('y6', { subject: to('Patient/1'), performer: [to('Patient/1'), to('RelatedPerson/1')] }),
      observation('x7', { subject: to('Patient/2') }),
      observation('x8', { subject: to('http://elsewhere.example/fhir/Patient/1') }),
      observation('x9', { focus: [to('Patient/1')] }),
      { resourceType: 'Medication', id: '1' },
    ]);
  }, 60_000);

  it.each([
    ['Patient/1/Observation', ['x1', 'x2', 'x3', 'y4', 'y5', 'y6']],
    ['Patient/1/Observation?code=x', ['x1', 'x2', 'x3']],
    ['Patient/1/Observation?code=x&_sort=-_id', ['x3', 'x2', 'x1']],
    ['Patient/1/Observation?subject=Patient/2', []],
    ['Patient/1/Observation?encounter:Encounter.status=completed', ['x1']],
    ['Patient/1/Patient', ['1', '2']],
    ['Patient/1/Patient?name=one', ['1']],
    ['Patient/2/Patient', ['2']],
    ['Patient/1/Encounter', ['1']],
    ['Patient/1/RelatedPerson', ['1']],
    ['Patient/2/Observation', ['x7']],
    ['Encounter/1/Observation', ['x1']],
    ['Encounter/1/Encounter', ['1']],
    ['Practitioner/1/Observation', ['x2']],
    ['Practitioner/1/Practitioner', ['1']],
    ['RelatedPerson/1/Observation', ['y6']],
    ['RelatedPerson/1/RelatedPerson', ['1']],
    ['Device/1/Observation', ['y4']],
    // What does not exist.
    ['Patient/never/Observation', []],
    ['Patient/1/Condition', []],
  ])('%s', async (path, ids) => {
    const answer = await get(`/${path}`);
    expect(answer.status, answer.text).toBe(200);
    expect(idsOf(answer).sort()).toEqual([...ids].sort());
    const [place, query] = path.split('?');
    const self = query === undefined ? `/${place}` : `/${place}?${new URLSearchParams(query).toString()}`;
    expect([answer.json().total, linkOf(answer, 'self')]).toEqual([ids.length, self]);
  });

  it.each([
    [
      'Patient/1/*',
      [
        'Encounter/1',
        'Observation/x1',
        'Observation/x2',
        'Observation/x3',
        'Observation/y4',
        'Observation/y5',
        'Observation/y6',
        'Patient/1',
        'Patient/2',
        'RelatedPerson/1',
      ],
    ],
    ['Patient/1/*?_type=Patient,Encounter', ['Encounter/1', 'Patient/1', 'Patient/2']],
    ['Patient/1/*?_id=1', ['Encounter/1', 'Patient/1', 'RelatedPerson/1']],
    ['Practitioner/1/*', ['Observation/x2', 'Practitioner/1']],
    ['Device/1/*', ['Observation/y4']],
    ['Encounter/1/*', ['Encounter/1', 'Observation/x1']],
    ['RelatedPerson/1/*', ['Observation/y6', 'RelatedPerson/1']],
    ['Patient/never/*', []],
  ])('%s', async (path, names) => {
    const answer = await get(withTotal(`/${path}`));
    expect(namesOf(answer).sort()).toEqual(names);
    expect(answer.json().total).toBe(names.length);
  });

  it('a resource that is deleted has one still, but is not in it', async () => {
    await putAll(server, [{ resourceType: 'Patient', id: 'gone' }]);
    await putAll(server, [observation('z', { subject: to('Patient/gone') })]);
    await server.send('DELETE', '/Patient/gone');
    expect(namesOf(await get('/Patient/gone/*'))).toEqual(['Observation/z']);
    await server.send('DELETE', '/Observation/z');
    expect(namesOf(await get('/Patient/gone/*'))).toEqual([]);
  });

  it.each([
    '/Patient/1/Observation?_count=2&_sort=-code',
    '/Patient/1/*?_count=3',
    '/Patient/1/*?_sort=_lastUpdated&_count=4',
  ])('%s: page by page, each resource once', async (path) => {
    const all = namesOf(await get(path.replace(/_count=\d/, '_count=50')));
    const found: string[] = [];
    for (let next: string | undefined = withTotal(path); next !== undefined;) {
      const answer = await get(next);
      found.push(...namesOf(answer));
      expect(answer.json().total).toBe(all.length);
      next = linkOf(answer, 'next');
      const place = path.slice(0, path.indexOf('?'));
      expect(next === undefined || next.startsWith(`${place}?_page=`)).toBe(true);
    }
    expect(found).toEqual(all);
    expect(all.length).toBeGreaterThan(5);
  });

  it('links of one are none for another', async () => {
    const next = linkOf(await get('/Patient/1/Observation?_count=1'), 'next')!;
    for (const place of [
      '/Patient/2/Observation',
      '/Observation',
      '/Patient/1/*',
      '/Patient/1/Encounter',
      '/',
      '/Encounter/1/Observation',
    ]) {
      const answer = await get(next.replace('/Patient/1/Observation', place));
      expect([place, answer.status, codeOf(answer)]).toEqual([place, 400, 'page-invalid']);
    }
    expect((await get(next)).status).toBe(200);
  });

  it('are posted', async () => {
    const one = await server.send('POST', '/Patient/1/Observation/_search', 'code=x&_count=1', FORM_TYPE);
    expect([namesOf(one), linkOf(one, 'self')]).toEqual([['Observation/x1'], '/Patient/1/Observation/_search']);
    expect(namesOf(await get(linkOf(one, 'next')!))).toEqual(['Observation/x2']);
    for (const path of ['/Patient/1/_search', '/Patient/1/*/_search']) {
      expect(namesOf(await server.send('GET', `${path}?_type=Encounter&_id=1`)), path).toEqual(['Encounter/1']);
    }
    expect(namesOf(await server.send('GET', '/Patient/1/Observation/_search?code=x'))).toContain('Observation/x1');
    const all = await server.send('POST', '/Patient/1/*/_search?_type=Encounter', '_id=1', FORM_TYPE);
    expect([namesOf(all), linkOf(all, 'self')]).toEqual([['Encounter/1'], '/Patient/1/*/_search?_type=Encounter']);
  });

  it('with includes, views and totals', async () => {
    const answer = await get(
      '/Patient/1/Observation?code=x&_include=Observation:performer&_elements=status&_total=accurate',
    );
    expect([idsOf(answer), includedIn(answer), answer.json().total]).toEqual([
      ['x1', 'x2', 'x3'],
      ['Practitioner/1'],
      3,
    ]);
    expect(Object.keys(answer.json().entry[0].resource).sort()).toEqual([
      'code',
      'id',
      'meta',
      'resourceType',
      'status',
    ]);
    const all = await get('/Patient/1/*?_type=Patient&_revinclude=Observation:subject');
    expect(namesOf(all).sort()).toEqual(['Patient/1', 'Patient/2']);
    expect(includedIn(all)).toEqual(['x1', 'x2', 'x3', 'x7', 'y4', 'y6'].map((id) => `Observation/${id}`));
    const count = (await get('/Patient/1/*?_summary=count')).json();
    expect([count.total, count.entry]).toEqual([10, undefined]);
    expect(includedIn(await get('/Encounter/1/*?_include=Observation:subject'))).toEqual(['Patient/1']);
  });

  it.each([
    [
      '/Patient/1/Medication?code=x',
      404,
      'unknown-path Medication is not in the compartment of Patient; search it by itself: [base]/Medication?…',
    ],
    ['/Patient/1/Observashun', 404, 'unknown-type Unknown resource type "Observashun"'],
    ['/Observation/x1/Patient', 404, 'unknown-path There is no compartment of Observation; there is one of Device, '],
    ['/Medication/1/*', 404, 'unknown-path There is no compartment of Medication'],
    ['/Patient/1/Observation/x1', 404, 'unknown-path'],
    [
      '/Patient/1/Observation?nope=1',
      400,
      'parameter-unknown Unknown parameter "nope"; did you mean "code"? valid here: ',
    ],
    [
      '/Patient/1/Observation?_type=Observation',
      400,
      'parameter-unknown The parameter "_type" belongs to searches of the',
    ],
    ['/Patient/1/*?code=x', 400, 'parameter-unknown The parameter "code" is none that all types have; search one type'],
    [
      '/Patient/1/*?_type=Medication',
      400,
      'parameter-invalid _type has names of resource types, separated by commas: Medication is not searched here',
    ],
    ['/Patient/1/*?_sort=code', 400, 'parameter-unknown _sort cannot go by "code"'],
  ])('%s is refused: %i %s', async (path, status, text) => {
    expect(refusalOf(await get(path))).toContain(`${status} ${text}`);
  });

  it('what is unknown is ignored where the client is lenient', async () => {
    const answer = await get('/Patient/1/*?_type=Encounter&code=x', { prefer: 'handling=lenient' });
    expect([namesOf(answer), notesOf(answer).map(({ code }) => code)]).toEqual([
      ['Encounter/1'],
      ['parameter-ignored'],
    ]);
  });

  it('other methods are told which there are', async () => {
    for (const method of ['PUT', 'POST', 'DELETE', 'PATCH']) {
      const answer = await server.send(method, '/Patient/1/Observation');
      expect([method, answer.status, answer.headers.allow]).toEqual([method, 405, 'GET, HEAD']);
    }
  });

  it('in a Bundle', async () => {
    const form = Buffer.from('code=x').toString('base64');
    const binary = { resourceType: 'Binary', contentType: FORM_TYPE['content-type'], data: form };
    const entry = [
      { request: { method: 'GET', url: 'Patient/1/Observation?code=x' } },
      { request: { method: 'GET', url: 'Encounter/1/*' } },
      { request: { method: 'POST', url: 'Patient/1/Observation/_search' }, resource: binary },
    ];
    for (const type of ['batch', 'transaction']) {
      const answer = await server.send('POST', '', { resourceType: 'Bundle', type, entry });
      expect(answer.status, answer.text).toBe(200);
      const totals = answer.json().entry.map(({ resource }: { resource: { total: number } }) => resource.total);
      expect(totals).toEqual([3, 2, 3]);
    }
  });

  describe('each compartment of the specification', () => {
    const paths = tables.compartments.flatMap(({ type, members }) =>
      Object.keys(members).map((member) => [`${type}/none-of-these/${member}`] as const),
    );

    it('has its types', async () => {
      expect(tables.compartments.map(({ type }) => type).sort()).toEqual([
        'Device',
        'Encounter',
        'Patient',
        'Practitioner',
        'RelatedPerson',
      ]);
      for (const [path] of paths) {
        const answer = await get(`/${path}`);
        expect([path, answer.status, answer.json().total]).toEqual([path, 200, 0]);
      }
    }, 60_000);
  });
}
