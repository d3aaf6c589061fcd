import { beforeAll, describe, expect, it } from 'vitest';

import { tables } from '../../../../generated/tables.js';
import { createValidator } from '../../../../runtime/validate/create-validator.js';
import type { Store } from '../../../../runtime/store/store.js';
import {
  FORM_TYPE,
  idsOf,
  includedIn,
  linkOf,
  notesOf,
  putAll,
  putMany,
  refusalOf,
  useWholeServer,
} from '../../search-server.js';

const to = (reference: string) => ({ reference });
const code = { coding: [{ code: 'x' }] };

const DATA = [
  { resourceType: 'Organization', id: 'acme', name: 'Acme' },
  { resourceType: 'Organization', id: 'beta', name: 'Beta', partOf: to('Organization/acme') },
  { resourceType: 'Practitioner', id: 'house', name: [{ family: 'House' }], gender: 'male' },
  {
    resourceType: 'Patient',
    id: 'ann',
    name: [{ family: 'Ann' }],
    text: { status: 'generated', div: '<div xmlns="http://www.w3.org/1999/xhtml">Ann</div>' },
    managingOrganization: to('Organization/beta'),
    generalPractitioner: [to('Practitioner/house'), to('Organization/acme')],
    link: [{ other: to('Patient/bob'), type: 'seealso' }],
  },
  {
    resourceType: 'Patient',
    id: 'bob',
    name: [{ family: 'Bob' }],
    link: [{ other: to('Patient/ann'), type: 'seealso' }],
  },
  { resourceType: 'Patient', id: 'self', link: [{ other: to('Patient/self'), type: 'seealso' }] },
  {
    resourceType: 'Observation',
    id: 'o1',
    status: 'final',
    code,
    subject: to('Patient/ann'),
    performer: [to('Practitioner/house'), to('Practitioner/never'), to('Organization/acme')],
  },
  { resourceType: 'Observation', id: 'o2', status: 'final', code, subject: to('Patient/ann') },
  {
    resourceType: 'Observation',
    id: 'o3',
    status: 'final',
    code,
    subject: to('Patient/bob/_history/1'),
    derivedFrom: [to('Observation/o1')],
  },
  { resourceType: 'Observation', id: 'o4', status: 'final', code, derivedFrom: [to('Observation/o3')] },
  {
    resourceType: 'Observation',
    id: 'o5',
    status: 'final',
    code,
    contained: [{ resourceType: 'Patient', id: 'p', managingOrganization: to('Organization/acme') }],
    subject: to('#p'),
    performer: [to('http://elsewhere.example/fhir/Practitioner/house')],
  },
  { resourceType: 'Questionnaire', id: 'q1', url: 'http://example.org/q', version: '1', status: 'active' },
  { resourceType: 'Questionnaire', id: 'q2', url: 'http://example.org/q', version: '2', status: 'active' },
  {
    resourceType: 'QuestionnaireResponse',
    id: 'r',
    status: 'completed',
    questionnaire: 'http://example.org/q|2',
    subject: to('Patient/ann'),
  },
];

const chainOf = (from: number, length: number) =>
  Array.from({ length }, (_, n) => ({
    resourceType: 'Location',
    id: `l${from + n}`,
    partOf: to(`Location/l${from + n + 1}`),
  }));

/** What comes with the matches, whatever the store. https://hl7.org/fhir/R5/search.html#include */
export function includeSearches(data: Store): void {
  const server = useWholeServer({ store: data });
  const get = (path: string, headers: Record<string, string> = {}) => server.send('GET', path, undefined, headers);

  beforeAll(async () => {
    await putAll(server, DATA);
    await putAll(server, [{ resourceType: 'Patient', id: 'bob', active: true }]);
    await putAll(server, [DATA[4]!]);
  }, 60_000);

  it.each([
    ['Observation?_id=o1&_include=Observation:subject', ['Patient/ann']],
    ['Observation?_id=o1,o2&_include=Observation:subject', ['Patient/ann']],
    ['Observation?_id=o1&_include=Observation:performer', ['Organization/acme', 'Practitioner/house']],
    ['Observation?_id=o1&_include=Observation:performer:Practitioner', ['Practitioner/house']],
    ['Observation?_id=o1&_include=Observation:performer:Patient', []],
    [
      'Observation?_id=o1&_include=Observation:subject&_include=Observation:performer:Organization',
      ['Organization/acme', 'Patient/ann'],
    ],
    ['Observation?_id=o1&_include=Observation:*', ['Organization/acme', 'Patient/ann', 'Practitioner/house']],
    ['Observation?_id=o1&_include=Observation:*:Patient', ['Patient/ann']],
    ['Observation?_id=o1&_include=*', ['Organization/acme', 'Patient/ann', 'Practitioner/house']],
    // A match does not come again, whichever led to it.
    ['Observation?_id=o1,o3&_include=Observation:derived-from', []],
    ['Observation?_id=o3&_include=Observation:derived-from', ['Observation/o1']],
    ['Patient?_id=self&_include=Patient:link', []],
    ['Patient?_id=ann&_include=Patient:link', ['Patient/bob']],
    ['Patient?_id=ann&_include:iterate=Patient:link', ['Patient/bob']],
    // Contained ones come in what contains them; those of other servers are there.
    ['Observation?_id=o5&_include=*', []],
    // Again and again.
    ['Observation?_id=o4&_include=Observation:derived-from', ['Observation/o3']],
    ['Observation?_id=o4&_include:iterate=Observation:derived-from', ['Observation/o1', 'Observation/o3']],
    [
      'Observation?_id=o2&_include=Observation:subject&_include:iterate=Patient:organization',
      ['Organization/beta', 'Patient/ann'],
    ],
    [
      'Observation?_id=o2&_include=Observation:subject&_include:iterate=Patient:organization&_include:iterate=Organization:partof',
      ['Organization/acme', 'Organization/beta', 'Patient/ann'],
    ],
    ['Observation?_id=o2&_include=Observation:subject&_include:iterate=Organization:partof', ['Patient/ann']],
    [
      'Observation?_id=o2&_include:iterate=*',
      ['Organization/acme', 'Organization/beta', 'Patient/ann', 'Patient/bob', 'Practitioner/house'],
    ],
    // Canonicals.
    ['QuestionnaireResponse?_include=QuestionnaireResponse:questionnaire', ['Questionnaire/q2']],
    ['Questionnaire?_id=q2&_revinclude=QuestionnaireResponse:questionnaire', ['QuestionnaireResponse/r']],
    ['Questionnaire?_id=q1&_revinclude=QuestionnaireResponse:questionnaire', []],
    // Backwards.
    ['Patient?_id=ann&_revinclude=Observation:subject', ['Observation/o1', 'Observation/o2']],
    ['Patient?_id=ann&_revinclude=Observation:subject:Patient', ['Observation/o1', 'Observation/o2']],
    ['Patient?_id=ann&_revinclude=Observation:*', ['Observation/o1', 'Observation/o2']],
    ['Patient?_id=bob&_revinclude=Observation:subject', ['Observation/o3']],
    ['Patient?_id=ann&_revinclude=*', ['Observation/o1', 'Observation/o2', 'Patient/bob', 'QuestionnaireResponse/r']],
    [
      'Organization?_id=beta&_revinclude=Patient:organization&_revinclude:iterate=Observation:subject',
      ['Observation/o1', 'Observation/o2', 'Patient/ann'],
    ],
    [
      'Patient?_id=ann&_revinclude=Observation:subject&_include:iterate=Observation:performer:Practitioner',
      ['Observation/o1', 'Observation/o2', 'Practitioner/house'],
    ],
    ['Practitioner?_id=house&_revinclude=Patient:general-practitioner', ['Patient/ann']],
    // A chain that finds, and an include of the same reference.
    ['Observation?subject:Patient.name=bob&_include=Observation:subject', ['Patient/bob']],
    ['Patient?_has:Observation:subject:_id=o1&_revinclude=Observation:subject', ['Observation/o1', 'Observation/o2']],
  ])('%s', async (path, included) => {
    const answer = await get(`/${path}`);
    expect(answer.status, answer.text).toBe(200);
    expect(includedIn(answer)).toEqual(included);
    // The chain that finds goes through a reference that names a version.
    expect(notesOf(answer)).toHaveLength(path.includes('subject:Patient.name') ? 1 : 0);
    const { total, entry = [], link } = answer.json();
    expect(total).toBe(idsOf(answer).length);
    expect(entry.length).toBe(total + included.length + notesOf(answer).length);
    expect(link[0].url.endsWith(new URLSearchParams(path.split('?')[1]).toString())).toBe(true);
    expect(createValidator(tables)(answer.json())).toEqual([]);
  });

  it('the version that a reference names comes, under the URL of the resource', async () => {
    const { entry } = (await get('/Observation?_id=o3&_include=Observation:subject')).json();
    const [, old] = entry;
    expect(old).toMatchObject({
      fullUrl: `${server.url}/fhir/Patient/bob`,
      resource: { id: 'bob', meta: { versionId: '1' } },
      search: { mode: 'include' },
    });
    await putAll(server, [
      {
        resourceType: 'Observation',
        id: 'o6',
        status: 'final',
        code,
        subject: to('Patient/bob/_history/99'),
      },
    ]);
    expect(includedIn(await get('/Observation?_id=o6&_include=Observation:subject'))).toEqual([]);
    await server.send('DELETE', '/Observation/o6');
  });

  it.each([
    [
      'Observation?_include:recurse=Observation:subject',
      '400 modifier-unknown The parameter "_include" takes :iterate',
    ],
    [
      'Observation?_revinclude:x=Observation:subject',
      '400 modifier-unknown The parameter "_revinclude" takes :iterate',
    ],
    ['Observation?_include=subject', '400 parameter-invalid The parameter "_include" is written Type:parameter, '],
    ['Observation?_include=Observation', '400 parameter-invalid The parameter "_include" is written Type:parameter, '],
    ['Observation?_include=Observation:', '400 parameter-invalid The parameter "_include" is written Type:parameter, '],
    ['Observation?_include=Observation:subject:', '400 parameter-invalid The parameter "_include" is written'],
    ['Observation?_include=Observation:subject:Patient:x', '400 parameter-invalid The parameter "_include" is written'],
    ['Observation?_include=Obsrvation:subject', 'unknown resource type "Obsrvation"; did you mean Observation?'],
    ['Observation?_include=Observation:sbject', 'Observation has no parameter "sbject"; did you mean "subject"?'],
    ['Observation?_include=Observation:code', '"Observation:code" cannot be followed: it is of type token'],
    ['Observation?_include=Observation:subject:Pateint', 'unknown resource type "Pateint"; did you mean Patient?'],
    ['Observation?_include=Observation:subject:Claim', '_include" never refers to Claim, but to '],
    [
      'Observation?_include=Patient:organization',
      '"_include" begins at Patient, so that it finds nothing: it is followed from the matches, Observation; ' +
        'from what was included _include:iterate is',
    ],
    [
      'Organization?_revinclude=Observation:encounter',
      '"_revinclude" refers to Encounter, so that it finds nothing: the matches are Organization; ' +
        'from what was included _revinclude:iterate is followed',
    ],
    [
      'Organization?_revinclude=Observation:subject:Patient',
      '"_revinclude" refers to Patient, so that it finds nothing',
    ],
    [
      'Observation?_include=*&_summary=text',
      '400 parameter-invalid _include, _revinclude and _graph exclude _summary=text',
    ],
    ['Observation?_includes=*', '400 parameter-unknown Unknown parameter "_includes"'],
  ])('%s is refused', async (path, text) => {
    const refusal = refusalOf(await get(`/${path}`));
    expect(refusal).toContain(text);
    expect(refusal).toContain('400 ');
  });

  it('what is wrong with them is ignored and told where the client is lenient', async () => {
    const wrong = [
      '_include:recurse=*',
      '_include=x',
      '_include=Observation:x',
      '_include=Patient:link',
      '_revinclude=X:y',
    ];
    const answer = await get(`/Observation?_id=o1&_include=Observation:subject&${wrong.join('&')}`, {
      prefer: 'handling=lenient',
    });
    expect([idsOf(answer), includedIn(answer)]).toEqual([['o1'], ['Patient/ann']]);
    expect(notesOf(answer).map(({ code: each }) => each)).toEqual(Array(5).fill('parameter-ignored'));
    expect(linkOf(answer, 'self')).toBe('/Observation?_id=o1&_include=Observation%3Asubject');
    const text = await get('/Observation?_id=o1&_include=*&_summary=text', { prefer: 'handling=lenient' });
    expect([includedIn(text), linkOf(text, 'self')]).toEqual([[], '/Observation?_id=o1&_summary=text']);
    expect(notesOf(text)).toHaveLength(1);
  });

  it('an empty one is told', async () => {
    const answer = await get('/Observation?_id=o1&_include=&_revinclude:iterate=');
    expect(notesOf(answer).map(({ code: each }) => each)).toEqual(['parameter-empty', 'parameter-empty']);
    expect(linkOf(answer, 'self')).toBe('/Observation?_id=o1');
  });

  it('each page has its own, and links carry them', async () => {
    const pages: [string[], string[], number][] = [];
    let next: string | undefined = '/Observation?_id=o1,o2,o3&_count=1&_include=Observation:subject';
    while (next !== undefined) {
      const answer = await get(next);
      pages.push([idsOf(answer), includedIn(answer), answer.json().total]);
      next = linkOf(answer, 'next');
    }
    expect(pages).toEqual([
      [['o1'], ['Patient/ann'], 3],
      [['o2'], ['Patient/ann'], 3],
      [['o3'], ['Patient/bob'], 3],
    ]);
  });

  it('are posted, and count for nothing', async () => {
    const form = '_id=o1&_include=Observation:subject&_maxresults=1&_count=1';
    const answer = await server.send('POST', '/Observation/_search', form, FORM_TYPE);
    expect([idsOf(answer), includedIn(answer), linkOf(answer, 'next')]).toEqual([['o1'], ['Patient/ann'], undefined]);
    for (const query of ['_summary=count', '_count=0']) {
      const count = (await get(`/Observation?_id=o1&_include=*&${query}`)).json();
      expect([count.total, count.entry]).toEqual([1, undefined]);
    }
  });

  it('summaries are of all resources, elements those of the matches', async () => {
    const of = async (query: string) => {
      const { entry } = (await get(`/Observation?_id=o1&_include=Observation:subject&${query}`)).json();
      return entry.map(({ resource: { meta: _meta, ...rest } }: any) => Object.keys(rest).sort().join()); // eslint-disable-line @typescript-eslint/no-explicit-any
    };
    const whole = 'generalPractitioner,id,link,managingOrganization,name,resourceType,text';
    expect(await of('_elements=status')).toEqual(['code,id,resourceType,status', whole]);
    expect(await of('_elements=status,Patient.name')).toEqual([
      'code,id,resourceType,status',
      'id,link,name,resourceType',
    ]);
    expect((await of('_summary=data'))[1]).toBe(whole.replace(',text', ''));
    expect((await of('_summary=true'))[1]).toBe('id,link,managingOrganization,name,resourceType');
  });

  it('in a Bundle', async () => {
    const entry = [{ request: { method: 'GET', url: 'Observation?_id=o1&_include=Observation:subject' } }];
    const answer = await server.send('POST', '', { resourceType: 'Bundle', type: 'batch', entry });
    const { resource } = answer.json().entry[0];
    expect(resource.entry.map(({ search }: { search: { mode: string } }) => search.mode)).toEqual(['match', 'include']);
  });

  it('contents of Binaries come as in pages', async () => {
    const data = Buffer.from('hello').toString('base64');
    await putAll(server, [
      { resourceType: 'Binary', id: 'b', contentType: 'text/plain', data },
      {
        resourceType: 'List',
        id: 'li',
        status: 'current',
        mode: 'working',
        entry: [{ item: to('Binary/b') }],
      },
    ]);
    const { entry } = (await get('/List?_id=li&_include=List:item')).json();
    expect(entry[1]).toMatchObject({ resource: { resourceType: 'Binary', data }, search: { mode: 'include' } });
  });

  describe('bounds', () => {
    beforeAll(async () => {
      const members = Array.from({ length: 1001 }, (_, n) => ({ resourceType: 'Substance', id: `s${n}` }));
      const group = (id: string, length: number) => ({
        resourceType: 'Group',
        id,
        membership: 'enumerated',
        member: members.slice(0, length).map((each) => ({ entity: to(`Substance/${each.id}`) })),
      });
      await putMany(server, members);
      await putMany(server, [group('g1000', 1000), group('g1001', 1001), ...chainOf(0, 10)]);
    }, 120_000);

    it('1,000 come with a page, and that there are more is said', async () => {
      const all = await get('/Group?_id=g1000&_include=Group:member');
      expect([includedIn(all).length, notesOf(all)]).toEqual([1000, []]);
      const cut = await get('/Group?_id=g1001&_include=Group:member');
      expect([includedIn(cut).length, idsOf(cut), cut.json().total]).toEqual([1000, ['g1001'], 1]);
      const [note] = notesOf(cut);
      expect([note?.code, note?.severity]).toEqual(['includes-cut', 'warning']);
      expect(note?.text).toContain('a page has 1000 such resources at most');
      expect(notesOf(await get('/Substance?_id=s0&_revinclude=Group:member'))).toEqual([]);
    });

    it(':iterate goes on five times, and that there is more is said', async () => {
      const all = await get('/Location?_id=l4&_include:iterate=Location:partof');
      expect(includedIn(all)).toEqual(['Location/l5', 'Location/l6', 'Location/l7', 'Location/l8', 'Location/l9']);
      expect(notesOf(all)).toEqual([]);
      const six = await get('/Location?_id=l3&_include:iterate=Location:partof');
      expect([includedIn(six).length, notesOf(six)]).toEqual([6, []]);
      const seven = await get('/Location?_id=l2&_include:iterate=Location:partof');
      expect(includedIn(seven).length).toBe(6);
      expect(notesOf(seven).map(({ code: each }) => each)).toEqual(['includes-cut']);
      expect(notesOf(seven)[0]?.text).toContain('goes on from what was included 5 times');
    });
  });
}
