import { beforeAll, expect, it } from 'vitest';

import type { Resource } from '../../../../runtime/fhir/resource.js';
import type { Store } from '../../../../runtime/store/store.js';
import { FORM_TYPE, idsOf, linkOf, notesOf, putAll, refusalOf, useWholeServer } from '../../search-server.js';
import type { Answer } from '../../server.js';

const coded = (code: string) => ({ coding: [{ system: 'http://snomed.info/sct', code }] });
const medication = (id: string, code: string, more: object = {}) => ({
  resourceType: 'Medication',
  id,
  code: coded(code),
  ...more,
});
const within = (...contained: object[]) => ({
  contained,
  medication: { reference: { reference: `#${(contained[0] as { id: string }).id}` } },
});
const request = (id: string, more: object) => ({
  resourceType: 'MedicationRequest',
  id,
  status: 'active',
  intent: 'order',
  subject: { reference: 'Patient/p' },
  ...more,
});

const DATA = [
  { resourceType: 'Patient', id: 'p', name: [{ family: 'Ann' }] },
  { resourceType: 'Organization', id: 'maker', name: 'Maker' },
  medication('x', '1', { status: 'active' }),
  medication('m1', '2', { status: 'inactive' }),
  // As the example of the specification has it: a request with its medication in it.
  request('r1', within(medication('m1', '1'))),
  request('r2', within(medication('m1', '2', { status: 'active' }), medication('m2', '1', { status: 'inactive' }))),
  request('r3', within(medication('m1', '1', { marketingAuthorizationHolder: { reference: 'Organization/maker' } }))),
  request('r4', { medication: { reference: { reference: 'Medication/x' } } }),
  {
    resourceType: 'MedicationAdministration',
    id: 'r1',
    status: 'completed',
    subject: { reference: 'Patient/p' },
    occurenceDateTime: '2024-01-01',
    ...within(medication('drug', '1')),
  },
  // One in another: what is within it is an ingredient.
  medication('kit', '9', {
    contained: [medication('part', '1')],
    ingredient: [{ item: { reference: { reference: '#part' } } }],
  }),
];

/** Searches that look into containers, whatever the store. https://hl7.org/fhir/R5/search.html#contained */
export function containedSearches(data: Store): void {
  const server = useWholeServer({ store: data });
  const get = (to: string): Promise<Answer> => server.send('GET', `/${to}`);
  const urlsOf = (answer: Answer): string[] =>
    ((answer.json().entry ?? []) as { fullUrl: string }[]).map(({ fullUrl }) => fullUrl.replace(/^.*\/fhir\//, ''));

  /** Full URLs of all pages, and whether each told the same total. */
  async function walk(to: string, count: number): Promise<string[]> {
    const found: string[] = [];
    let answer = await get(`${to}&_count=${count}&_total=accurate`);
    for (;;) {
      expect(answer.status, answer.text).toBe(200);
      found.push(...urlsOf(answer));
      const next = linkOf(answer, 'next');
      if (next === undefined) {
        expect(answer.json().total).toBe(found.length);
        return found;
      }
      answer = await server.send('GET', next);
    }
  }

  beforeAll(() => putAll(server, DATA as Parameters<typeof putAll>[1]), 60_000);

  it.each([
    ['code=1', 'Medication/x'],
    ['code=1&_contained=false', 'Medication/x'],
    ['code=1&_contained=false&_containedType=contained', 'Medication/x'],
    ['code=1&_containedType=contained', 'Medication/x'],
    ['code=1&_contained=true', 'Medication/kit MedicationAdministration/r1 MedicationRequest/r1 MedicationRequest/r2 MedicationRequest/r3'], // prettier-ignore
    ['code=1&_contained=true&_containedType=container', 'Medication/kit MedicationAdministration/r1 MedicationRequest/r1 MedicationRequest/r2 MedicationRequest/r3'], // prettier-ignore
    ['code=1&_contained=true&_containedType=contained', 'Medication/kit#part MedicationAdministration/r1#drug MedicationRequest/r1#m1 MedicationRequest/r2#m2 MedicationRequest/r3#m1'], // prettier-ignore
    ['code=1&_contained=both', 'Medication/kit Medication/x MedicationAdministration/r1 MedicationRequest/r1 MedicationRequest/r2 MedicationRequest/r3'], // prettier-ignore
    ['code=9,1&_contained=both', 'Medication/kit Medication/x MedicationAdministration/r1 MedicationRequest/r1 MedicationRequest/r2 MedicationRequest/r3'], // prettier-ignore
    ['code=1&_contained=both&_containedType=contained', 'Medication/kit#part MedicationAdministration/r1#drug MedicationRequest/r1#m1 MedicationRequest/r2#m2 MedicationRequest/r3#m1 Medication/x'], // prettier-ignore
    // Both criteria are of one of them.
    ['code=1&status=active&_contained=true', ''],
    ['code=1&status=inactive&_contained=true', 'MedicationRequest/r2'],
    ['status:missing=false&_contained=true&_containedType=contained', 'MedicationRequest/r2#m1 MedicationRequest/r2#m2'], // prettier-ignore
    ['code:not=1&_contained=true&_containedType=contained', 'MedicationRequest/r2#m1'],
    ['code:not=1&_contained=true', 'MedicationRequest/r2'],
    ['_id=m1&_contained=true', 'MedicationRequest/r1 MedicationRequest/r2 MedicationRequest/r3'],
    ['_id=m1,x&_contained=both&_containedType=contained', 'MedicationRequest/r1#m1 MedicationRequest/r2#m1 MedicationRequest/r3#m1 Medication/m1 Medication/x'], // prettier-ignore
    ['_id=r1&_contained=true', ''],
    ['marketingauthorizationholder.name=maker&_contained=true', 'MedicationRequest/r3'],
    ['_filter=code%20eq%201%20and%20not%20(status%20eq%20inactive)&_contained=true', 'Medication/kit MedicationAdministration/r1 MedicationRequest/r1 MedicationRequest/r3'], // prettier-ignore
    ['_lastUpdated=gt2999&_contained=true', ''],
    ['_lastUpdated=lt2999&code=2&_contained=true', 'MedicationRequest/r2'],
    ['code=none&_contained=true', ''],
  ])('Medication?%s finds %s, on pages of any size', async (query, found) => {
    const expected = found === '' ? [] : found.split(' ').sort();
    for (const count of [1, 2, 50]) expect((await walk(`Medication?${query}`, count)).sort()).toEqual(expected);
    const counted = await get(`Medication?${query}&_summary=count`);
    expect(counted.json().total).toBe(found === '' ? 0 : found.split(' ').length);
  });

  it('shows the container as it is stored, or what is within it alone, as matches', async () => {
    const [container] = (await get('Medication?code=1&status=inactive&_contained=true')).json().entry;
    expect(container.resource).toEqual((await get('MedicationRequest/r2')).json());
    expect(container.search).toEqual({ mode: 'match' });
    const answer = await get('Medication?code=1&status=inactive&_contained=true&_containedType=contained');
    const [contained] = answer.json().entry;
    expect(contained).toEqual({
      fullUrl: `${server.url}/fhir/MedicationRequest/r2#m2`,
      resource: { resourceType: 'Medication', id: 'm2', code: coded('1'), status: 'inactive' },
      search: { mode: 'match' },
    });
    expect(linkOf(answer, 'self')).toBe('/Medication?code=1&status=inactive&_contained=true&_containedType=contained');
    const part = await get('Medication?code=1&status=inactive&_contained=true&_containedType=contained&_elements=status'); // prettier-ignore
    expect(part.json().entry[0].resource).toMatchObject({ id: 'm2', status: 'inactive' });
    expect(part.json().entry[0].resource.code).toBeUndefined();
  });

  it('is asked in a body too, and in an entry of a batch', async () => {
    const posted = await server.send('POST', '/Medication/_search?code=2', '_contained=true', FORM_TYPE);
    expect(idsOf(posted)).toEqual(['r2']);
    const entry = [{ request: { method: 'GET', url: 'Medication?code=2&_contained=true' } }];
    const batch = await server.send('POST', '', { resourceType: 'Bundle', type: 'batch', entry });
    expect(batch.json().entry[0].resource.entry[0].fullUrl).toContain('MedicationRequest/r2');
  });

  it('sorts what is contained by its parameters, containers by what all have', async () => {
    const shown = '_contained=true&_containedType=contained';
    expect(await walk(`Medication?status:missing=false&${shown}&_sort=-status`, 1)).toEqual([
      'MedicationRequest/r2#m2',
      'MedicationRequest/r2#m1',
    ]);
    const sorted = (await walk('Medication?code=1&_contained=true&_sort=-_id', 2)).map((url) => url.split('/')[1]);
    expect(sorted).toEqual(['r3', 'r2', 'r1', 'r1', 'kit']);
    expect((await walk('Medication?code=1&_contained=true&_sort=_lastUpdated', 2))[0]).toBe('MedicationRequest/r1');
  });

  it('an update and a deletion of the container change what is found', async () => {
    const of = async () => (await walk('Medication?code=77&_contained=true&_containedType=contained', 5)).join(' ');
    await putAll(server, [request('changing', within(medication('a', '77'), medication('b', '77')))]);
    expect(await of()).toBe('MedicationRequest/changing#a MedicationRequest/changing#b');
    await putAll(server, [request('changing', within(medication('b', '77'), medication('c', '78')))]);
    expect(await of()).toBe('MedicationRequest/changing#b');
    const entry = [
      { request: { method: 'PUT', url: 'MedicationRequest/changing' }, resource: request('changing', {}) },
      { request: { method: 'PUT', url: 'MedicationRequest/new' }, resource: request('new', within(medication('a', '77'))) }, // prettier-ignore
    ];
    expect((await server.send('POST', '', { resourceType: 'Bundle', type: 'transaction', entry })).status).toBe(200);
    expect(await of()).toBe('MedicationRequest/new#a');
    const patch = [{ op: 'replace', path: '/contained/0/code/coding/0/code', value: '79' }];
    const type = { 'content-type': 'application/json-patch+json' };
    expect((await server.send('PATCH', '/MedicationRequest/new', JSON.stringify(patch), type)).status).toBe(200);
    expect(await of()).toBe('');
    expect(await walk('Medication?code=79&_contained=true', 5)).toEqual(['MedicationRequest/new']);
    await server.send('DELETE', '/MedicationRequest/new');
    expect(await walk('Medication?code=79&_contained=true', 5)).toEqual([]);
    await server.send('DELETE', '/MedicationRequest/changing');
  });

  it('what is contained is no resource: nothing else finds or counts it', async () => {
    const types = ((await get('?_count=200')).json().entry as { resource: { resourceType: string } }[]).map(
      ({ resource }) => resource.resourceType,
    );
    expect(types.filter((type) => type === 'Medication')).toHaveLength(3);
    expect((await get('Medication?_summary=count')).json().total).toBe(3);
    expect((await get('Medication/_history?_count=200')).json().total).toBe(3);
    expect((await get('MedicationRequest?medication=m1')).json().total).toBe(0);
    expect((await get('_history?_count=200')).text).not.toContain('r1#m1');
    expect((await get('Medication/drug')).status).toBe(404);
  });

  it('two with one id are one, and what has none is not found', async () => {
    const contained = [
      medication('same', '55'),
      medication('same', '56'),
      { resourceType: 'Medication', code: coded('57') },
    ];
    const answer = await server.send('PUT', '/MedicationRequest/odd', { ...request('odd', {}), contained });
    expect(answer.status).toBe(201);
    expect(await walk('Medication?code=55,56,57&_contained=true&_containedType=contained', 5)).toEqual([
      'MedicationRequest/odd#same',
    ]);
    await server.send('DELETE', '/MedicationRequest/odd');
  });

  it('many in one resource are found, and it once', async () => {
    const contained = Array.from({ length: 1500 }, (_, n) => medication(`n${n}`, '66', { status: n < 3 ? 'draft' : 'active' })); // prettier-ignore
    await putAll(server, [request('many', { contained })]);
    expect(await walk('Medication?code=66&_contained=true', 10)).toEqual(['MedicationRequest/many']);
    const some = await get('Medication?code=66&_contained=true&_containedType=contained&_count=7&_total=accurate');
    expect([idsOf(some).length, some.json().total]).toEqual([7, 1500]);
    expect(await walk('Medication?code=66&status=draft&_contained=true&_containedType=contained', 2)).toHaveLength(3);
    await server.send('DELETE', '/MedicationRequest/many');
    expect(await walk('Medication?code=66&_contained=true', 10)).toEqual([]);
  }, 60_000);

  it('of a contained Binary nothing is kept apart, whatever it says', async () => {
    const told = { url: 'urn:kiln:blob', extension: [{ url: 'name', valueString: 'x' }, { url: 'size', valueInteger64: '1' }, { url: 'sha256', valueString: 'y' }] }; // prettier-ignore
    const binary = { resourceType: 'Binary', id: 'f', contentType: 'text/plain', _data: { extension: [told] } };
    const plain = { resourceType: 'Binary', id: 'g', contentType: 'text/plain', data: 'YQ==' };
    const basic = { resourceType: 'Basic', id: 'holds', code: { text: 'x' }, contained: [binary, plain] };
    expect((await server.send('PUT', '/Basic/holds', basic)).status).toBe(201);
    const answer = await get('Binary?_contained=true&_containedType=contained');
    expect([answer.status, idsOf(answer)]).toEqual([200, ['f', 'g']]);
    const shown = (answer.json().entry as { resource: { data?: string } }[]).map(({ resource }) => resource.data);
    expect(shown).toEqual([undefined, 'YQ==']);
    await server.send('DELETE', '/Basic/holds');
  });

  it('a contained resource may be referred to very often', async () => {
    const entry = Array.from({ length: 60_000 }, () => ({ item: { reference: '#m' } }));
    const more = Array.from({ length: 1000 }, (_, n) => ({ item: { reference: `#none${n}` } }));
    const list = { resourceType: 'List', id: 'often', status: 'current', mode: 'working', entry: [...entry, ...more] };
    expect((await server.send('PUT', '/List/often', { ...list, contained: [medication('m', '88')] })).status).toBe(201);
    expect(idsOf(await get('List?item:Medication.code=88'))).toEqual(['often']);
    await server.send('DELETE', '/List/often');
  }, 60_000);

  it('a resource contains so many at most', async () => {
    const contained = Array.from({ length: 5001 }, (_, n) => ({ resourceType: 'Medication', id: `n${n}` }));
    const answer = await server.send('PUT', '/MedicationRequest/full', request('full', { contained }));
    expect(refusalOf(answer)).toContain('413 resource-too-large A resource may contain 5000 others, not 5001');
  });

  it.each([
    ['?_contained=true', 'it goes with searches of one type, as in [base]/Medication?code=x&_contained=true'],
    ['?_type=Medication&_contained=both', 'it goes with searches of one type'],
    ['Patient/p/MedicationRequest?_contained=true', 'it goes with searches of one type'],
    ['Medication?_contained=true&_include=Medication:ingredient', '_include and _revinclude is of matches'],
    ['Medication?_contained=true&_revinclude=*', '_include and _revinclude is of matches'],
    ['Medication?_contained=true&_graph=x', '_graph is of matches that are in no other resource'],
    ['Medication?_contained=true&_content=x&_score=true', '_score is of matches that are in no other resource'],
    ['Medication?_contained=true&_sort=code', '_sort=code orders Medication, and containers of other types are found'],
    ['Medication?_contained=true&_has:MedicationRequest:medication:status=active', 'asks what refers to a resource'],
    ['Medication?_contained=both&_list=1', '"_list" asks what refers to a resource'],
    ['Medication?_contained=both&_in=Group/1', '"_in" asks what refers to a resource'],
  ])('%s is refused: %s', async (to, text) => {
    const refusal = refusalOf(await get(to));
    expect(refusal).toContain('400 parameter-invalid _contained does not go with this search: ');
    expect(refusal).toContain(text);
  });

  it.each([
    '%23Medication',
    '%23Medication?code=1',
    '%23Medication/MedicationRequest%2Fr1%23m1',
    '%23Medication/_history',
    '?_type=%23Medication',
    '_history?_type=%23Medication',
    'MedicationRequest/_search?_has:%23Medication:.container:code=1',
    'MedicationRequest?_has:%23Medication:.container:code=1',
    'MedicationRequest?_revinclude=%23Medication:.container',
    'Medication?.in=MedicationRequest&_contained=true',
    'MedicationRequest?medication:%23Medication.code=1',
    'MedicationRequest/$graphql?query={x:%23MedicationList{id}}',
  ])('%s: no client names the types that it is kept under', async (to) => {
    const answer = await server.send('GET', `/${to}`, undefined, { prefer: 'handling=strict' });
    expect(answer.status).toBeGreaterThanOrEqual(400);
    expect(answer.status).toBeLessThan(500);
  });

  it('is no criterion of a write', async () => {
    const answer = await server.send('DELETE', '/Medication?code=1&_contained=true');
    expect(refusalOf(answer)).toContain('"_contained" says how results are shown');
    expect((await get('Medication?code=1')).json().total).toBe(1);
  });
}

/** A resource that contains more than one may, from before that was bounded: it is another program that wrote it. */
export function containersFromBefore(data: Store): void {
  const server = useWholeServer({ store: data });
  const get = (to: string): Promise<Answer> => server.send('GET', `/${to}`);
  const holding = (count: number, more: object = {}) => {
    const contained = Array.from({ length: count }, (_, n) => medication(`n${n}`, '88'));
    return request('before', { contained, ...more });
  };
  const found = async (query: string) => {
    const answer = await get(`Medication?${query}&_contained=true&_containedType=contained&_total=accurate&_count=1`);
    return [answer.json().total as number, notesOf(answer).map(({ text }) => text)] as const;
  };
  const NOTE =
    'Some resources contain more than 5000 others, or too much: what is beyond that is stored, and not found';

  beforeAll(async () => {
    const { resourceType: type, id, ...rest } = holding(5001) as { resourceType: string; id: string };
    const body = {
      head: `{"resourceType":"${type}","id":"${id}","meta":{`,
      tail: `},${JSON.stringify(rest).slice(1)}`,
    };
    await data.write([{ type, id, expected: 0, body, content: holding(5001) as Resource, entries: [] }]);
  });

  it('is updated and patched where it does not grow, and said to be found in part', async () => {
    expect(await found('code=88')).toEqual([0, []]);
    const put = (count: number, more: object = {}) => server.send('PUT', '/MedicationRequest/before', holding(count, more)); // prettier-ignore
    expect(refusalOf(await put(5002))).toContain('413 resource-too-large A resource may contain 5000 others, not 5002');
    expect((await put(5001, { priority: 'urgent' })).status).toBe(200);
    expect(await found('code=88')).toEqual([5000, [NOTE]]);
    expect(await found('_id=n4999')).toEqual([1, [NOTE]]);
    expect(await found('_id=n5000')).toEqual([0, [NOTE]]);
    expect(notesOf(await get('Medication?code=88'))).toEqual([]);
    const patch = [{ op: 'replace', path: '/priority', value: 'asap' }];
    const type = { 'content-type': 'application/json-patch+json' };
    const patched = await server.send('PATCH', '/MedicationRequest/before', JSON.stringify(patch), type);
    expect(patched.status, patched.text.slice(0, 300)).toBe(200);
    const grown = JSON.stringify([{ op: 'add', path: '/contained/-', value: medication('more', '88') }]);
    expect((await server.send('PATCH', '/MedicationRequest/before', grown, type)).status).toBe(413);
    const entry = [{ request: { method: 'PUT', url: 'MedicationRequest/before' }, resource: holding(5001) }];
    expect((await server.send('POST', '', { resourceType: 'Bundle', type: 'transaction', entry })).status).toBe(200);
    expect((await put(5000)).status).toBe(200);
    expect(await found('code=88')).toEqual([5000, []]);
    expect((await put(5001)).status).toBe(413);
  }, 120_000);

  it('is deleted', async () => {
    expect((await server.send('DELETE', '/MedicationRequest/before')).status).toBeLessThan(300);
    expect(await found('code=88')).toEqual([0, []]);
    expect((await server.send('PUT', '/MedicationRequest/before', holding(5001))).status).toBe(413);
  }, 60_000);
}
