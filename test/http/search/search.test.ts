import { beforeAll, describe, expect, it } from 'vitest';

import { codeOf } from '../server.js';
import { FORM_TYPE, idsOf, linkOf, notesOf, putAll, useSearchServer } from '../search-server.js';

const patients = [
  { id: 'a', name: [{ family: 'Lovelace', given: ['Ada'] }], birthDate: '1815-12-10', gender: 'female' },
  { id: 'b', name: [{ family: 'Babbage', given: ['Charles'] }], birthDate: '1791-12-26', gender: 'male' },
  { id: 'c', name: [{ family: 'Lovelock' }], gender: 'male' },
  { id: 'd', name: [{ family: 'Éluard' }], birthDate: '1895', gender: 'male', active: true },
];

function useFilledServer(options: Parameters<typeof useSearchServer>[0] = {}) {
  const server = useSearchServer(options);
  beforeAll(async () => {
    await putAll(
      server,
      patients.map((patient) => ({ resourceType: 'Patient', ...patient })),
    );
    await server.send(
      'PUT',
      '/Observation/x',
      '{"resourceType":"Observation","id":"x","status":"final",' +
        '"code":{"coding":[{"code":"w"}]},"subject":{"reference":"Patient/a"},"valueQuantity":{"value":1.10}}',
    );
  });
  return server;
}

describe('search-type by GET (http.html#search)', () => {
  const server = useFilledServer();
  const found = async (query: string) => idsOf(await server.send('GET', `/Patient?${query}`));

  it('answers a searchset of what matches, texts as they were stored', async () => {
    const answer = await server.send('GET', '/Observation?subject=Patient/a');
    expect(answer.status).toBe(200);
    expect(answer.text).toContain('"value":1.10');
    const bundle = answer.json();
    expect(bundle).toMatchObject({ resourceType: 'Bundle', type: 'searchset', total: 1 });
    expect(bundle.link).toEqual([{ relation: 'self', url: `${server.url}/fhir/Observation?subject=Patient%2Fa` }]);
    expect(bundle.entry).toHaveLength(1);
    expect(bundle.entry[0]).toMatchObject({ fullUrl: `${server.url}/fhir/Observation/x`, search: { mode: 'match' } });
    expect(bundle.entry[0].resource.meta.versionId).toBe('1');
    expect(Date.parse(bundle.meta.lastUpdated)).toBeGreaterThanOrEqual(
      Date.parse(bundle.entry[0].resource.meta.lastUpdated),
    );
  });

  it.each([
    ['', ['a', 'b', 'c', 'd']],
    ['family=love', ['a', 'c']],
    ['family=love&gender=male', ['c']],
    ['family=babbage,eluard', ['b', 'd']],
    ['gender:not=male', ['a']],
    ['birthdate=ge1800', ['a', 'd']],
    ['birthdate:missing=true', ['c']],
    ['_id=b,c', ['b', 'c']],
    ['_lastUpdated=gt2999', []],
    ['general-practitioner=1', []],
  ])('%s finds %j, in the order of ids', async (query, ids) => {
    expect(await found(query)).toEqual(ids);
  });

  it('has no entries where nothing is found, and a total', async () => {
    const bundle = (await server.send('GET', '/Patient?family=nobody')).json();
    expect(bundle).not.toHaveProperty('entry');
    expect(bundle.total).toBe(0);
  });

  it.each([
    ['birthdate', ['b', 'a', 'd', 'c']],
    ['-birthdate', ['d', 'a', 'b', 'c']],
    ['family', ['b', 'd', 'a', 'c']],
    ['gender,-family', ['a', 'c', 'd', 'b']],
    ['-_id', ['d', 'c', 'b', 'a']],
    ['-_lastUpdated', ['d', 'c', 'b', 'a']],
    ['active', ['d', 'a', 'b', 'c']],
  ])('_sort=%s gives %j: missing values last', async (sort, ids) => {
    expect(await found(`_sort=${sort}`)).toEqual(ids);
  });

  it.each([['_count=0'], ['_summary=count'], ['_summary=count&_total=none'], ['_count=0&_total=estimate']])(
    '%s gives the total only',
    async (query) => {
      const bundle = (await server.send('GET', `/Patient?gender=male&${query}`)).json();
      expect(bundle.total).toBe(3);
      expect(bundle).not.toHaveProperty('entry');
      expect(bundle.link.map(({ relation }: { relation: string }) => relation)).toEqual(['self']);
    },
  );

  it('_total=none leaves the total out; other words are refused', async () => {
    expect((await server.send('GET', '/Patient?_total=none')).json()).not.toHaveProperty('total');
    expect((await server.send('GET', '/Patient?_total=estimate')).json().total).toBe(4);
    expect((await server.send('GET', '/Patient?_total=accurate&_count=1')).json().total).toBe(4);
    const wrong = await server.send('GET', '/Patient?_total=some');
    expect([wrong.status, wrong.json().issue[0].details.text]).toEqual([
      400,
      '_total is none, estimate or accurate, not "some"',
    ]);
  });

  it('_summary and _elements cut resources down and tag them', async () => {
    for (const query of ['_summary=true', '_summary=data', '_elements=gender', '_summary=text']) {
      const { entry } = (await server.send('GET', `/Patient?_id=a&${query}`)).json();
      expect(entry[0].resource.meta.tag[0].code).toBe('SUBSETTED');
    }
    const { entry } = (await server.send('GET', '/Patient?_id=a&_elements=gender,birthDate')).json();
    expect(Object.keys(entry[0].resource).sort()).toEqual(['birthDate', 'gender', 'id', 'meta', 'resourceType']);
    expect(
      (await server.send('GET', '/Patient?_id=a&_summary=false')).json().entry[0].resource.meta.tag,
    ).toBeUndefined();
    for (const query of ['_summary=some', '_summary=true&_elements=gender', '_elements=gendre', '_elements=,']) {
      expect([query, (await server.send('GET', `/Patient?_id=none&${query}`)).status]).toEqual([query, 400]);
    }
  });

  it('HEAD answers as GET, without a body; a trailing slash is no other path', async () => {
    const head = await server.send('HEAD', '/Patient?gender=male');
    expect([head.status, head.text]).toEqual([200, '']);
    expect(Number(head.headers['content-length'])).toBe(
      (await server.send('GET', '/Patient?gender=male')).bytes.length,
    );
    expect((await server.send('GET', '/Patient/?gender=male')).status).toBe(200);
  });

  it('_pretty, and formats that are not there', async () => {
    const pretty = await server.send('GET', '/Patient?_pretty=true');
    expect(pretty.text).toContain('\n  "type": "searchset"');
    expect(linkOf(pretty, 'self')).toBe('/Patient?_pretty=true');
    expect((await server.send('GET', '/Patient?_format=csv')).status).toBe(406);
  });
});

describe('what a search cannot be (search.html#errors)', () => {
  const server = useFilledServer();
  const refused = async (query: string, headers = {}) => {
    const answer = await server.send('GET', `/Patient?${query}`, undefined, headers);
    return `${answer.status} ${codeOf(answer)} ${answer.json().issue[0].details.text}`;
  };

  it.each([
    ['_cuont=3', '400 parameter-unknown Unknown parameter "_cuont"; did you mean "_count"? valid here: '],
    ['_sort:not=name', '400 modifier-unknown The parameter "_sort" takes no modifiers; it has :not'],
    ['_contained:x=true', '400 modifier-unknown The parameter "_contained" takes no modifiers; it has :x'],
    ['_filter:not=x', '400 modifier-unknown The parameter "_filter" takes no modifiers; it has :not'],
    [
      'nmae=x',
      '400 parameter-unknown Unknown parameter "nmae"; did you mean "name"? valid here: _content, _filter, _id, _in, _language, _lastUpdated, _list, ',
    ],
    [
      'name:exactly=x',
      '400 modifier-unknown The parameter "name:exactly" is of type string and takes :missing, :exact',
    ],
    ['gender:in=x', '400 parameter-invalid The server does not know the value set "x"'],
    ['birthdate=zz2010', '400 prefix-unknown The parameter "birthdate" takes the prefixes eq, ne, gt'],
    ['birthdate=2010-13', '400 parameter-invalid The parameter "birthdate" is no date'],
    [
      '_sort=nmae',
      '400 parameter-unknown _sort cannot go by "nmae": there is no such parameter (did you mean "name"?); it can by _id',
    ],
    ['_sort=name:text', '400 parameter-unknown _sort cannot go by "name:text": modifiers have no meaning there'],
    [
      '_sort=organization.name',
      '400 parameter-unknown _sort cannot go by "organization.name": only what the searched type itself says',
    ],
    [
      '_sort=_score',
      '400 parameter-unknown _sort cannot go by "_score": it is returned with the matches of a page with _score=true',
    ],
    ['_sort=name,,family', '400 parameter-invalid _sort has an empty key'],
    [`_sort=${'name,'.repeat(10)}name`, '400 parameter-invalid _sort has 11 keys, and may have 10'],
    ['_sort=name&_sort=family', '400 parameter-invalid The parameter "_sort" may appear once'],
    ['_count=-1', '400 parameter-invalid _count has to be a whole number from 0, not "-1"'],
    ['_count=1&_count=2', '400 parameter-invalid The parameter "_count" may appear once'],
    ['_maxresults=0', '400 parameter-invalid _maxresults has to be a whole number from 1'],
    ['gender.code=x', '400 parameter-unknown "Patient.gender" is of type token, and only references lead on'],
    [
      '_has=x',
      '400 parameter-invalid The parameter "_has" lacks a part of its _has: it is written _has:Type:reference:',
    ],
    [
      '_type=Patient',
      '400 parameter-unknown The parameter "_type" belongs to searches of the whole system, [base]?_type=…',
    ],
    [
      '_query=x',
      '400 parameter-unknown The parameter "_query" names a query that a server has, and there are none here;',
    ],
    ['_contained=x', '400 parameter-invalid _contained is true, false or both, not "x"'],
    ['_containedType=x', '400 parameter-invalid _containedType is container or contained, not "x"'],
  ])('%s: %s', async (query, text) => {
    expect(await refused(query as string)).toContain(text);
  });

  it('parameters whose order means nothing are named by type', async () => {
    const answer = await server.send('GET', '/Observation?_sort=code-value-quantity');
    expect(answer.json().issue[0].details.text).toContain('"code-value-quantity": it is of type composite');
  });

  it('an empty parameter is no error: it is ignored, left out of self, and told', async () => {
    const answer = await server.send('GET', '/Patient?name=&gender=female&_sort=&birthdate');
    expect([answer.status, idsOf(answer), linkOf(answer, 'self')]).toEqual([200, ['a'], '/Patient?gender=female']);
    expect(notesOf(answer).map(({ code, severity }) => [code, severity])).toEqual([
      ['parameter-empty', 'information'],
      ['parameter-empty', 'information'],
      ['parameter-empty', 'information'],
    ]);
    expect(await refused('nmae=')).toContain('400 parameter-unknown');
  });

  it.each([
    ['birthdate=2010-13', 'http.birthdate'],
    ['name:exactly=x', 'http.name:exactly'],
    ['organization.nmae=x', 'http.organization.nmae'],
    ['_count=some', 'http._count'],
    ['_include=Patient:nobody', 'http._include'],
    ['gen%00der=male', undefined],
  ])('%s is told with the place of the parameter: %s', async (query, place) => {
    const location = place === undefined ? undefined : [place];
    expect((await server.send('GET', `/Patient?${query}`)).json().issue[0].location).toEqual(location);
  });

  it('a parameter that is ignored is told with its place', async () => {
    const lenient = { prefer: 'handling=lenient' };
    const { entry } = (await server.send('GET', '/Patient?nmae=x&gender=', undefined, lenient)).json();
    const outcome = entry.find(({ search }: { search: { mode: string } }) => search.mode === 'outcome');
    expect(outcome.resource.issue.map(({ location }: { location: string[] }) => location)).toEqual([
      ['http.nmae'],
      ['http.gender'],
    ]);
  });

  it('Prefer: handling=lenient ignores what does not exist, and says so', async () => {
    const query =
      'nmae=x&gender=male&name:exactly=x&birthdate=zz2010&_sort=nmae,-_id&_include=Patient:x&subject.name=y';
    const answer = await server.send('GET', `/Patient?${query}`, undefined, { prefer: 'handling=lenient' });
    expect([answer.status, idsOf(answer)]).toEqual([200, ['d', 'c', 'b']]);
    expect(linkOf(answer, 'self')).toBe('/Patient?gender=male&_sort=-_id');
    const notes = notesOf(answer);
    expect(notes.map(({ code, severity }) => `${code} ${severity}`)).toEqual(
      Array(6).fill('parameter-ignored warning'),
    );
    for (const name of ['"nmae"', ':exactly', '"zz"', '_sort', '"_include"', '"Patient.subject"']) {
      expect(notes.some(({ text }) => text.includes(name))).toBe(true);
    }
    // What is wrong is not unknown.
    expect(await refused('birthdate=2010-13', { prefer: 'handling=lenient' })).toContain('400 parameter-invalid');
  });

  it('says of what it ignored so much, and no more', async () => {
    const send = (length: number) => {
      const query = Array.from({ length }, (_, n) => `x${n}=1`).join('&');
      return server.send('GET', `/Patient?${query}`, undefined, { prefer: 'handling=lenient' });
    };
    const notes = notesOf(await send(200));
    expect([notes.length, notes.at(-1)?.text]).toEqual([50, 'Ignored: 151 more parameters']);
    expect((await send(201)).status).toBe(400);
  });

  it('URLs of more than 8 kB, lists of more than 1,000 values', async () => {
    expect((await server.send('GET', `/Patient?name=${'x'.repeat(9000)}`)).status).toBe(414);
    const list = (length: number) => `_id=${Array.from({ length }, () => 'a').join(',')}`;
    expect((await server.send('GET', `/Patient?${list(1000)}`)).status).toBe(200);
    expect(await refused(list(1001))).toContain('has 1001 values, and may have 1000');
  });
});

describe('the configuration of searches (decisions.md, Search)', () => {
  const server = useFilledServer({ search: { handling: 'lenient', count: 2, maxCount: 3, values: 2, postValues: 3 } });

  it('handling, page sizes, lengths of lists', async () => {
    expect((await server.send('GET', '/Patient?nmae=x')).status).toBe(200);
    const strict = await server.send('GET', '/Patient?nmae=x', undefined, { prefer: 'handling=strict' });
    expect(strict.status).toBe(400);
    expect(idsOf(await server.send('GET', '/Patient'))).toHaveLength(2);
    const cut = await server.send('GET', '/Patient?_count=99');
    expect([idsOf(cut).length, linkOf(cut, 'self')]).toEqual([3, '/Patient?_count=3']);
    expect((await server.send('GET', '/Patient?_id=a,b,c')).status).toBe(400);
    expect((await server.send('POST', '/Patient/_search', '_id=a,b,c', FORM_TYPE)).status).toBe(200);
    expect((await server.send('POST', '/Patient/_search', '_id=a,b,c,d', FORM_TYPE)).status).toBe(400);
  });
});

describe('search-type by POST to _search (http.html#search)', () => {
  const server = useFilledServer();
  const post = (body: string, query = '', headers = {}) =>
    server.send('POST', `/Patient/_search${query}`, body, { ...FORM_TYPE, ...headers });

  it('takes the parameters of the body and those of the URL together', async () => {
    expect(idsOf(await post('family=love'))).toEqual(['a', 'c']);
    expect(idsOf(await post('family=love&family=lovel', '?gender=male'))).toEqual(['c']);
    expect(idsOf(await post('family=%C3%89luard+'))).toEqual(['d']);
    expect(idsOf(await server.send('POST', '/Patient/_search?family=love'))).toEqual(['a', 'c']);
    expect(codeOf(await post('_count=1', '?_count=2'))).toBe('parameter-invalid');
  });

  it('puts nothing of the body into a link', async () => {
    const answer = await post('family=secretlove&_sort=-birthdate', '?gender=male&_count=5');
    expect(linkOf(answer, 'self')).toBe('/Patient/_search?gender=male&_count=5');
    expect(answer.text).not.toContain('secretlove');
    const next = linkOf(await post('gender=male', '?_count=1'), 'next') ?? '';
    expect(next).toMatch(/^\/Patient\?_page=[\w-]+$/);
  });

  it('goes on by GET of next', async () => {
    const first = await post('gender=male&_count=2&_sort=-_id');
    expect(idsOf(first)).toEqual(['d', 'c']);
    const second = await server.send('GET', linkOf(first, 'next') ?? '');
    expect([idsOf(second), second.json().total, linkOf(second, 'next')]).toEqual([['b'], 3, undefined]);
  });

  it.each([
    [{ 'content-type': 'application/fhir+json' }, 415],
    [{ 'content-type': 'text/plain' }, 415],
    [{ 'content-type': 'application/x-www-form-urlencoded; charset=latin1' }, 415],
    [{ 'content-type': 'application/x-www-form-urlencoded; charset=UTF-8' }, 200],
    [{ 'content-type': 'APPLICATION/X-WWW-Form-Urlencoded;charset="utf-8"' }, 200],
  ])('%j: %i', async (headers, status) => {
    expect((await post('family=love', '', headers)).status).toBe(status);
  });

  it('a body without a type is 415; _format and _pretty count in the body too', async () => {
    const untyped = await server.raw('POST', '/fhir/Patient/_search', 'family=love');
    expect(untyped.status).toBe(415);
    expect((await post('_pretty=true')).text).toContain('\n  ');
    expect((await post('_format=csv')).status).toBe(406);
    expect(linkOf(await post('_pretty=true'), 'self')).toBe('/Patient/_search');
  });

  it('10,000 values are taken, more are not', async () => {
    const list = (length: number) => `_id=a,${Array.from({ length: length - 1 }, (_, n) => `id-${n}`).join(',')}`;
    expect(idsOf(await post(list(10_000)))).toEqual(['a']);
    const long = await post(list(10_001));
    expect([long.status, codeOf(long)]).toEqual([400, 'parameter-invalid']);
  });
});

describe('what cannot be a search (search.html#errors)', () => {
  const server = useFilledServer();

  it.each(['name=%zz', 'name=%ff', 'name=a%'])('%s is refused: it is not encoded well', async (query) => {
    const answer = await server.send('GET', `/Patient?${query}`);
    expect(answer.status).toBe(400);
    expect(codeOf(answer)).toBe('parameter-invalid');
    expect(answer.text).toContain('%25');
  });

  it('a form that is not encoded well is refused too', async () => {
    const answer = await server.send('POST', '/Patient/_search', 'name=%C3', FORM_TYPE);
    expect(answer.status).toBe(400);
    expect(codeOf(answer)).toBe('parameter-invalid');
  });

  it('the type of a reference is the same in modifier and value', async () => {
    const answer = await server.send('GET', '/Observation?subject:Patient=Observation/a');
    expect(answer.status).toBe(400);
    expect(answer.text).toContain('of type Patient by its modifier, and of type Observation by its value');
    expect(idsOf(await server.send('GET', '/Observation?subject:Patient=Patient/a'))).toEqual(['x']);
  });
});
