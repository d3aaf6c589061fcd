import { beforeAll, describe, expect, it } from 'vitest';

import type { Store } from '../../../runtime/store/store.js';
import { namesOf } from '../reads/compartments.js';
import {
  FORM_TYPE,
  includedIn,
  linkOf,
  notesOf,
  putAll,
  refusalOf,
  useWholeServer,
  withTotal,
} from '../search-server.js';
import { codeOf } from '../server.js';

const TAG = { system: 'urn:tags', code: 'red' };
const to = (reference: string) => ({ reference });

const DATA = [
  { resourceType: 'Patient', id: 'a', meta: { tag: [TAG], source: 'urn:s' }, gender: 'male', birthDate: '2000' },
  { resourceType: 'Patient', id: 'b', language: 'de', link: [{ other: to('Patient/a'), type: 'seealso' }] },
  {
    resourceType: 'Observation',
    id: 'a',
    meta: { tag: [TAG] },
    status: 'final',
    code: { text: 'x' },
    subject: to('Patient/a'),
  },
  { resourceType: 'Observation', id: 'c', status: 'final', code: { text: 'x' }, subject: to('Patient/b') },
  { resourceType: 'Basic', id: 'd', code: { text: 'x' }, meta: { security: [{ code: 'R' }] } },
  { resourceType: 'Organization', id: 'e', name: 'E', meta: { profile: ['http://example.org/p'], tag: [TAG] } },
  { resourceType: 'Binary', id: 'f', contentType: 'text/plain', data: 'aGVsbG8=' },
];
const ALL = ['Basic/d', 'Binary/f', 'Observation/a', 'Observation/c', 'Organization/e', 'Patient/a', 'Patient/b'];

/** Searches over several types, whatever the store. https://hl7.org/fhir/R5/http.html#search */
export function systemSearches(data: Store): void {
  const server = useWholeServer({ store: data });
  const get = (path: string, headers: Record<string, string> = {}) => server.send('GET', path, undefined, headers);

  beforeAll(() => putAll(server, DATA), 60_000);

  it.each([
    ['/', ALL],
    ['/?_type=Patient', ['Patient/a', 'Patient/b']],
    ['/?_type=Patient,Basic', ['Basic/d', 'Patient/a', 'Patient/b']],
    ['/?_type=Claim', []],
    ['/?_id=a', ['Observation/a', 'Patient/a']],
    ['/?_id=a,d', ['Basic/d', 'Observation/a', 'Patient/a']],
    ['/?_tag=red', ['Observation/a', 'Organization/e', 'Patient/a']],
    ['/?_tag=urn:tags|red&_type=Organization', ['Organization/e']],
    ['/?_tag:not=red', ['Basic/d', 'Binary/f', 'Observation/c', 'Patient/b']],
    ['/?_tag:missing=true', ['Basic/d', 'Binary/f', 'Observation/c', 'Patient/b']],
    ['/?_language=de', ['Patient/b']],
    ['/?_source=urn:s', ['Patient/a']],
    ['/?_security=R', ['Basic/d']],
    ['/?_profile=http://example.org/p', ['Organization/e']],
    ['/?_lastUpdated=gt2000', ALL],
    ['/?_lastUpdated=lt2000', []],
    ['/?_id=a&_tag=red&_type=Patient', ['Patient/a']],
    [
      '/?_sort=_id',
      ['Observation/a', 'Patient/a', 'Patient/b', 'Observation/c', 'Basic/d', 'Organization/e', 'Binary/f'],
    ],
    [
      '/?_sort=-_lastUpdated',
      ['Binary/f', 'Organization/e', 'Basic/d', 'Observation/c', 'Observation/a', 'Patient/b', 'Patient/a'],
    ],
    ['/?_sort=-_id&_type=Patient,Observation', ['Observation/c', 'Patient/b', 'Observation/a', 'Patient/a']],
  ])('%s', async (path, names) => {
    const answer = await get(withTotal(path));
    expect(namesOf(answer)).toEqual(names);
    expect(answer.json().total).toBe(names.length);
    const query = new URLSearchParams(withTotal(path).split('?')[1]).toString();
    expect(linkOf(answer, 'self')).toBe(`/?${query}`);
    expect(notesOf(answer)).toEqual([]);
  });

  it('without a parameter finds everything', async () => {
    const answer = await get('/');
    expect([namesOf(answer), linkOf(answer, 'self')]).toEqual([ALL, '/']);
  });

  it.each([
    '/?_count=2',
    '/?_count=3&_sort=-_lastUpdated',
    '/?_count=1&_sort=_id&_tag=red',
    '/?_count=2&_type=Patient,Observation',
  ])('%s: page by page, each resource once', async (searched) => {
    const path = withTotal(searched);
    const all = namesOf(await get(path.replace(/_count=\d/, '_count=50')));
    const found: string[] = [];
    for (let next: string | undefined = path; next !== undefined;) {
      const answer = await get(next);
      found.push(...namesOf(answer));
      expect(answer.json().total).toBe(all.length);
      expect(answer.json().link[0].url).toBe(`${server.url}/fhir${next.slice(1).replace(',', '%2C')}`);
      next = linkOf(answer, 'next');
    }
    expect(found).toEqual(all);
  });

  it('links are none for searches of a type, and those none here', async () => {
    const next = linkOf(await get('/?_count=1'), 'next')!;
    expect(codeOf(await get(`/Patient${next.slice(1)}`))).toBe('page-invalid');
    const other = linkOf(await get('/Patient?_count=1'), 'next')!;
    expect(codeOf(await get(other.replace('/Patient', '/')))).toBe('page-invalid');
    expect(codeOf(await get(other.replace('Patient', 'Patient/a/*')))).toBe('page-invalid');
    expect((await get(next)).status).toBe(200);
  });

  it('are posted to _search', async () => {
    const answer = await server.send('POST', '/_search?_type=Patient', '_tag=red&_count=1', FORM_TYPE);
    expect([namesOf(answer), linkOf(answer, 'self')]).toEqual([['Patient/a'], '/_search?_type=Patient']);
    const all = await server.send('POST', '/_search', '_count=4', FORM_TYPE);
    expect([namesOf(all), linkOf(all, 'self')]).toEqual([ALL.slice(0, 4), '/_search']);
    expect(namesOf(await get(linkOf(all, 'next')!))).toEqual(ALL.slice(4));
    const json = await server.send('POST', '/_search', {});
    expect([json.status, json.headers.accept]).toEqual([415, FORM_TYPE['content-type']]);
  });

  it('with includes, forwards and backwards', async () => {
    const of = async (query: string) => includedIn(await get(`/?${query}`));
    expect(await of('_type=Observation&_include=Observation:subject')).toEqual(['Patient/a', 'Patient/b']);
    expect(await of('_id=c&_include=*')).toEqual(['Patient/b']);
    expect(await of('_id=c&_include=*&_include:iterate=Patient:link')).toEqual(['Patient/a', 'Patient/b']);
    expect(await of('_type=Patient&_id=a&_revinclude=Observation:subject')).toEqual(['Observation/a']);
    expect(await of('_type=Patient&_id=a&_revinclude=*')).toEqual(['Observation/a', 'Patient/b']);
    expect(await of('_include=Observation:subject')).toEqual([]);
  });

  it('with totals, summaries and elements of any of the types', async () => {
    const count = (await get('/?_summary=count&_tag=red')).json();
    expect([count.total, count.entry]).toEqual([3, undefined]);
    expect((await get('/?_count=0')).json().total).toBe(ALL.length);
    expect((await get('/?_count=1&_total=none')).json().total).toBeUndefined();
    const { entry } = (await get('/?_id=a&_elements=gender,status')).json();
    const keys = entry.map(({ resource }: { resource: object }) => Object.keys(resource).sort().join());
    expect(keys).toEqual(['code,id,meta,resourceType,status', 'gender,id,meta,resourceType']);
    expect(refusalOf(await get('/?_elements=gendre'))).toContain('400 parameter-invalid _elements: none of the types');
    const { entry: one } = (await get('/?_id=e&_elements=gender')).json();
    expect(Object.keys(one[0].resource).sort()).toEqual(['id', 'meta', 'resourceType']);
    expect((await get('/?_id=f')).json().entry[0].resource.data).toBe('aGVsbG8=');
    expect(namesOf(await get('/?_maxresults=2'))).toEqual(ALL.slice(0, 2));
  });

  it.each([
    [
      '/?name=x',
      'parameter-unknown The parameter "name" is none that all types have; search one type, [base]/[type]?…; over several these are valid: _content, _filter, _id, _language, ',
    ],
    ['/?_type=Patient&name=x', 'parameter-unknown The parameter "name" is none that all types have'],
    [
      '/?subject.name=x',
      'parameter-unknown The parameter "subject.name" leads from one type to others; search one type',
    ],
    [
      '/?_has:Observation:subject:code=x',
      'parameter-unknown The parameter "_has:Observation:subject:code" leads from one',
    ],
    ['/?_profile.name=x', 'parameter-unknown The parameter "_profile.name" leads from one type to others'],
    ['/?_sort=name', 'parameter-unknown _sort cannot go by "name"'],
    [
      '/?_type=Patient,Pateint',
      'parameter-invalid _type has names of resource types, separated by commas: "Pateint" is no resource type; did you mean Patient?',
    ],
    ['/?_type=Patient,', 'parameter-invalid _type has names of resource types'],
    ['/?_type=Patient&_type=Basic', 'parameter-invalid The parameter "_type" may appear once'],
    ['/?_type=Patient&_include=Observation:subject', 'begins at Observation, so that it finds nothing'],
    ['/?_type=Organization&_revinclude=Observation:encounter', 'refers to Encounter, so that it finds nothing'],
    ['/?_query=x', 'names a query that a server has, and there are none here'],
    ['/?_tag:nope=x', 'modifier-unknown'],
    ['/?_lastUpdated=x', 'parameter-invalid'],
  ])('%s is refused: %s', async (path, text) => {
    const refusal = refusalOf(await get(path));
    expect(refusal).toContain(text);
    expect(refusal).toMatch(/^400 /);
  });

  it('each names the parameter that was wrong', async () => {
    for (const [path, name] of [
      ['/?_type=Pateint', '_type'],
      ['/?_tag:nope=x', '_tag:nope'],
      ['/?_lastUpdated=x', '_lastUpdated'],
      ['/?_sort=name', '_sort'],
    ] as const) {
      expect((await get(path)).json().issue[0].location, path).toEqual([`http.${name}`]);
    }
  });

  it('what is unknown is ignored where the client is lenient; types never are', async () => {
    const lenient = { prefer: 'handling=lenient' };
    const answer = await get('/?_tag=red&name=x&subject.name=y&_sort=name,-_id', lenient);
    expect(namesOf(answer)).toEqual(['Organization/e', 'Observation/a', 'Patient/a']);
    expect(notesOf(answer).map(({ code }) => code)).toEqual(Array(3).fill('parameter-ignored'));
    expect(linkOf(answer, 'self')).toBe('/?_tag=red&_sort=-_id');
    expect((await get('/?_type=Pateint', lenient)).status).toBe(400);
  });

  it('an empty _type names none, which is told', async () => {
    const answer = await get('/?_type=&_tag=red');
    expect([namesOf(answer).length, linkOf(answer, 'self')]).toEqual([3, '/?_tag=red']);
    expect(notesOf(answer).map(({ code }) => code)).toEqual(['parameter-empty']);
  });

  it('GET of _search is the same search, as its own self link is', async () => {
    const answer = await get('/_search?_tag=red&_type=Patient');
    expect([answer.status, namesOf(answer), linkOf(answer, 'self')]).toEqual([
      200,
      ['Patient/a'],
      '/?_tag=red&_type=Patient',
    ]);
    const posted = await server.send('POST', '/_search?_type=Patient', '_tag=red', FORM_TYPE);
    expect((await get(linkOf(posted, 'self')!)).status).toBe(200);
    expect((await server.send('HEAD', '/_search?_id=a')).status).toBe(200);
    const first = await get('/_search?_count=2');
    expect(namesOf(await get(linkOf(first, 'next')!))).toEqual(ALL.slice(2, 4));
  });

  it('methods of the base and of _search', async () => {
    const base = await server.send('PUT', '/');
    expect([base.status, base.headers.allow]).toEqual([405, 'GET, HEAD, POST']);
    const search = await server.send('PUT', '/_search');
    expect([search.status, search.headers.allow]).toEqual([405, 'GET, HEAD, POST']);
    expect((await server.send('HEAD', '/?_id=a')).status).toBe(200);
    expect(namesOf(await server.raw('GET', '/fhir?_id=a'))).toEqual(['Observation/a', 'Patient/a']);
    const removal = await server.send('DELETE', '/?_tag=red');
    expect([removal.status, codeOf(removal)]).toEqual([404, 'not-wired']);
  });

  describe('in a Bundle', () => {
    it.each(['batch', 'transaction'])('of type %s', async (type) => {
      const data = Buffer.from('_id=a').toString('base64');
      const form = { resourceType: 'Binary', contentType: FORM_TYPE['content-type'], data };
      const entry = [
        { request: { method: 'GET', url: '?_tag=red' } },
        { request: { method: 'GET', url: '/?_type=Basic' } },
        { request: { method: 'POST', url: '_search' }, resource: form },
        { request: { method: 'GET', url: `${server.url}/fhir?_id=d` } },
      ];
      const answer = await server.send('POST', '', { resourceType: 'Bundle', type, entry });
      expect(answer.status, answer.text).toBe(200);
      const totals = answer.json().entry.map(({ resource }: { resource: { total: number } }) => resource.total);
      expect(totals).toEqual([3, 1, 2, 1]);
    });
  });
}
