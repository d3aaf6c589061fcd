import { beforeAll, describe, expect, it } from 'vitest';

import type { JsonObject } from '../../../../runtime/fhir/resource.js';
import type { Store } from '../../../../runtime/store/store.js';
import { ASYNC } from '../../jobs/jobs-server.js';
import { scopedServer } from '../../auth/scoped.js';
import type { Answer } from '../../server.js';
import { library } from './library.js';

type Part = Readonly<Record<string, unknown>>;

/** What the specification of `$sql-run` and `$sql-export` says of parameters, forms and faults, line by line. */
export function sqlAnswers(store: Store): void {
  const server = scopedServer(store);
  const view = (resource: string, path = 'id', more: JsonObject = {}): JsonObject => ({
    ...{ resourceType: 'ViewDefinition', status: 'active', resource },
    select: [{ column: [{ name: 'id', path: 'id' }, ...(path === 'id' ? [] : [{ name: 'v', path, ...more }])] }],
  });
  const subject = (resource: JsonObject): Part => ({ name: 'subjectResource', resource });
  const data = (...resources: JsonObject[]): Part[] => resources.map((resource) => ({ name: 'resource', resource }));
  const format = (valueCode: string): Part => ({ name: '_format', valueCode });
  const person = (id: string, more: JsonObject = {}): JsonObject => ({ resourceType: 'Patient', id, ...more });
  const run = (parameter: readonly Part[], headers: Record<string, string> = {}): Promise<Answer> =>
    server.all.send('POST', '/$sql-run', { resourceType: 'Parameters', parameter }, headers);
  const get = (query: string, headers: Record<string, string> = {}): Promise<Answer> =>
    server.all.send('GET', `/$sql-run?${query}`, undefined, headers);
  const issuesOf = (answer: Answer) => (answer.json() as { issue: { code: string; expression?: string[] }[] }).issue;
  const summaryOf = (answer: Answer) => [
    answer.status,
    ...issuesOf(answer).map(({ code, expression = [] }) => `${code} ${expression.join()}`),
  ];
  const idsOf = ({ status, text }: Answer): string[] => {
    expect(status, text).toBe(200);
    return text
      .split('\n')
      .filter(Boolean)
      .map((line) => (JSON.parse(line) as { id: string }).id);
  };

  beforeAll(async () => {
    const all = [
      person('sa-a'),
      person('sa-b'),
      {
        resourceType: 'Observation',
        id: 'sa-o',
        status: 'final',
        code: { text: 'x' },
        subject: { reference: 'Patient/sa-a' },
      },
      { resourceType: 'Medication', id: 'sa-m', status: 'active' },
      {
        resourceType: 'Group',
        id: 'sa-g',
        type: 'medication',
        membership: 'enumerated',
        member: [{ entity: { reference: 'Medication/sa-m' } }],
      },
      { ...view('Patient'), id: 'sa-v', url: 'https://views.example/sa' },
      { ...view('Observation'), id: 'sa-w' },
      { ...view('Medication'), id: 'sa-x' },
    ] as JsonObject[];
    for (const each of all) {
      const { status, text } = await server.all.send(
        'PUT',
        `/${String(each['resourceType'])}/${String(each['id'])}`,
        each,
      );
      expect(status, text).toBe(201);
    }
  });

  describe('forms', () => {
    it.each([
      ['nothing', '', {}, 'application/x-ndjson'],
      ['_format=csv', '_format=csv', {}, 'text/csv; charset=utf-8'],
      ['a media type', '_format=text/csv', { accept: 'application/json' }, 'text/csv; charset=utf-8'],
      ['Accept of csv', '', { accept: 'text/csv' }, 'text/csv; charset=utf-8'],
      ['Accept of json', '', { accept: 'application/json' }, 'application/json'],
      ['Accept of Parquet', '', { accept: 'application/vnd.apache.parquet' }, 'application/vnd.apache.parquet'],
      ['Accept by liking', '', { accept: 'application/x-ndjson;q=0.1, text/csv;q=0.9' }, 'text/csv; charset=utf-8'],
      ['Accept in order', '', { accept: 'text/csv, application/json' }, 'text/csv; charset=utf-8'],
      ['Accept of texts', '', { accept: 'text/*' }, 'text/csv; charset=utf-8'],
      ['Accept of FHIR alone', '', { accept: 'application/fhir+json' }, 'application/fhir+json'],
      ['Accept of FHIR in XML', '', { accept: 'application/fhir+xml' }, 'application/fhir+xml'],
      ['_format=fhir', '_format=fhir', {}, 'application/fhir+json'],
      ['_format=fhir in XML', '_format=fhir', { accept: 'application/fhir+xml' }, 'application/fhir+xml'],
      ['csv in a resource in XML', '_format=csv', { accept: 'application/fhir+xml' }, 'application/fhir+xml'],
      ['csv in a resource', '_format=csv', { accept: 'application/fhir+json' }, 'application/fhir+json'],
    ])('%s', async (_title, query, headers, type) => {
      const answer = await get(`subjectReference=ViewDefinition/sa-v&${query}`, headers);
      expect(answer.status, answer.text).toBe(200);
      expect(String(answer.headers['content-type']).split(';')[0]).toBe(type.split(';')[0]);
    });

    it.each(['ndjson', 'parquet'])('%s has no form as a resource', async (name) => {
      const answer = await get(`subjectReference=ViewDefinition/sa-v&_format=${name}`, {
        accept: 'application/fhir+json',
      });
      expect(answer.status).toBe(406);
      expect(issuesOf(answer)[0]!.code).toBe('not-supported');
    });

    it('of a table without rows, and of csv without names', async () => {
      const none = [subject({ ...view('Patient'), where: [{ path: 'false' }] })];
      expect((await run([...none, format('csv')])).text).toBe('id\n');
      expect((await run([...none, format('csv'), { name: 'header', valueBoolean: false }])).text).toBe('');
      expect((await run([...none, format('json')])).text).toBe('[]');
      expect((await run([...none, format('ndjson')])).text).toBe('');
      expect((await run([...none, format('fhir')])).json()).toEqual({ resourceType: 'Parameters' });
      expect((await run([...none, format('parquet')])).text.slice(0, 4)).toBe('PAR1');
    });

    it('with types of SQL, which hold a value or refuse it', async () => {
      const tagged = view('Patient', 'birthDate', { tag: [{ name: 'ansi/type', value: 'DATE' }] });
      const of = (birthDate: string): Promise<Answer> =>
        run([subject(tagged), format('parquet'), ...data(person('a', { birthDate }))]);
      expect((await of('2020-01-02')).status).toBe(200);
      expect((await of('2020')).status).toBe(422);
    });

    it('of faults are FHIR, whatever is accepted', async () => {
      const answer = await get('_format=csv', { accept: 'text/csv' });
      expect([answer.status, (answer.json() as JsonObject)['resourceType']]).toEqual([400, 'OperationOutcome']);
    });
  });

  describe('parameters', () => {
    it('by GET name patients by reference, id or URL', async () => {
      const found = (await server.all.send('GET', '/Patient?_id=sa-a')).json() as { entry: { fullUrl: string }[] };
      for (const patient of ['Patient/sa-a', 'sa-a', found.entry[0]!.fullUrl])
        expect(idsOf(await get(`subjectReference=ViewDefinition/sa-v&patient=${patient}`)), patient).toEqual(['sa-a']);
      const both = 'patient=Patient/sa-a&patient=Patient/sa-b';
      expect(idsOf(await get(`subjectReference=ViewDefinition/sa-v&${both}`))).toEqual(['sa-a', 'sa-b']);
    });

    it('of patients give no rows of types outside of their compartment; groups of others their members', async () => {
      expect(idsOf(await get('subjectReference=ViewDefinition/sa-w&patient=sa-a'))).toEqual(['sa-o']);
      expect(idsOf(await get('subjectReference=ViewDefinition/sa-w&patient=sa-b'))).toEqual([]);
      expect(idsOf(await get('subjectReference=ViewDefinition/sa-x&patient=sa-a'))).toEqual([]);
      expect(idsOf(await get('subjectReference=ViewDefinition/sa-x&group=sa-g'))).toEqual(['sa-m']);
    });

    it('of data: Bundles of one level, other types ignored, without a time never too old', async () => {
      const inner = { resourceType: 'Bundle', type: 'collection', entry: [{ resource: person('deep') }] };
      const outer = {
        resourceType: 'Bundle',
        type: 'collection',
        entry: [{ resource: person('b') }, { resource: inner }],
      };
      const old = person('old', { meta: { lastUpdated: '2001-01-01T00:00:00Z' } });
      const fresh = person('fresh', { meta: { lastUpdated: '2021-01-01T00:00:00Z' } });
      const since = { name: '_since', valueInstant: '2020-01-01T00:00:00Z' };
      const all = [...data(person('a'), outer, { resourceType: 'Group', id: 'g' }, old, fresh)];
      expect(idsOf(await run([subject(view('Patient')), since, ...all]))).toEqual(['a', 'b', 'fresh']);
    });

    it('lets a later answer alone: the client may ask for it', async () => {
      expect(
        (await run([subject(view('Patient')), { name: '_limit', valueInteger: 1 }], { prefer: 'return=minimal' }))
          .status,
      ).toBe(200);
    });
  });

  describe('faults of a run', () => {
    const one = subject(view('Patient'));
    const named = { name: 'subjectReference', valueReference: { reference: 'ViewDefinition/sa-v' } };
    it.each<[string, readonly Part[], number, string, string]>([
      ['no subject', [format('csv')], 400, 'required', 'subject'],
      ['two ways of naming one', [one, named], 400, 'invalid', 'subject'],
      [
        'parameters of a view',
        [one, { name: 'parameters', resource: { resourceType: 'Parameters' } }],
        400,
        'invalid',
        'parameters',
      ],
      ['context of a view', [one, { name: 'context', resource: view('Group') }], 400, 'invalid', 'context'],
      ['data of a query', [subject(library('SELECT 1')), ...data(person('x'))], 400, 'invalid', 'resource'],
      [
        'an unknown patient',
        [one, { name: 'patient', valueReference: { reference: 'Patient/none' } }],
        400,
        'not-found',
        'patient',
      ],
      [
        'an unknown group',
        [one, { name: 'group', valueReference: { reference: 'Group/none' } }],
        400,
        'not-found',
        'group',
      ],
      ['an unknown form', [one, format('xlsx')], 400, 'not-supported', '_format'],
      [
        'an unknown subject',
        [{ name: 'subjectCanonical', valueCanonical: 'urn:none' }],
        404,
        'not-found',
        'subjectCanonical',
      ],
      ['a missing dependency', [subject(library('SELECT 1', { v: 'urn:none' }))], 404, 'not-found', ''],
      ['a subject of another kind', [subject({ resourceType: 'Patient' })], 422, 'invalid', 'subjectResource'],
      ['a view without selections', [subject({ ...view('Patient'), select: [] })], 422, 'invalid', 'subjectResource'],
      ['a view of a wrong structure', [subject({ ...view('Patient'), status: 7 })], 422, 'invalid', 'subjectResource'],
    ])('%s', async (_title, parts, status, code, expression) => {
      const answer = await run(parts);
      expect(answer.status, answer.text).toBe(status);
      const [first] = issuesOf(answer);
      expect([first?.code, first?.expression?.[0] ?? '']).toEqual([code, expression]);
    });

    it.each<[string, Part, string]>([
      ['a source', { name: 'source', valueUri: 'https://x.example' }, 'not-supported source'],
      ['an unknown parameter', { name: 'other', valueString: 'x' }, 'not-supported other'],
      ['a value of another type', { name: '_limit', valueString: 'x' }, 'value _limit'],
      ['a broken value', { name: '_limit', valueInteger: 1.5 }, 'value _limit'],
      ['a parameter twice', format('csv'), 'value _format'],
    ])('%s, by the name of the parameter', async (_title, part, summary) => {
      expect(summaryOf(await run([one, format('csv'), part]))).toEqual([400, summary]);
    });

    it.each(['_limit=x', '_since=2020', 'header=x', '_limit=1&_limit=2', 'other=1'])('of GET: %s', async (query) => {
      const [status, issue] = summaryOf(await get(`subjectReference=ViewDefinition/sa-v&${query}`));
      expect([status, String(issue).split(' ')[1]]).toEqual([400, query.split('=')[0]]);
    });

    it('a resource by GET', async () => {
      expect((await get('subjectResource=x')).status).toBe(400);
      expect((await get('subjectReference=ViewDefinition/sa-v&resource=x')).status).toBe(400);
    });

    it('all in one answer, the gravest first', async () => {
      const wrong = [
        { name: 'subjectCanonical', valueCanonical: 'urn:none' },
        { name: '_limit', valueInteger: -1 },
        { name: 'other', valueString: 'x' },
        { name: 'patient', valueReference: { reference: 'Patient/none' } },
        format('xlsx'),
      ];
      expect(summaryOf(await run(wrong))).toEqual([
        404,
        'not-found subjectCanonical',
        'not-supported other',
        'not-supported _format',
        'value _limit',
        'not-found patient',
      ]);
      const broken = [subject({ ...view('Patient'), select: [] }), { name: '_limit', valueString: 'x' }];
      expect(summaryOf(await run([...broken, { name: 'context', resource: view('Group') }]))).toEqual([
        400,
        'value _limit',
        'invalid context',
        'invalid subjectResource',
      ]);
      const twice = { name: 'subjectCanonical', valueCanonical: 'urn:x' };
      // What names the subject is wrong, but not missing.
      expect(summaryOf(await run([twice, twice]))).toEqual([400, 'value subjectCanonical']);
    });

    it('that a token may not, before all others', async () => {
      const answer = await server.as('system/Device.s').send('POST', '/$sql-run', {
        resourceType: 'Parameters',
        parameter: [one, { name: '_limit', valueInteger: -1 }],
      });
      expect(answer.status, answer.text).toBe(403);
    });

    it('a body that is no Parameters', async () => {
      expect((await server.all.send('POST', '/$sql-run', person('x'))).status).toBe(400);
    });
  });

  describe('faults of an export', () => {
    const start = (parameter: readonly Part[], headers: Record<string, string> = ASYNC): Promise<Answer> =>
      server.all.send('POST', '/$sql-export', { resourceType: 'Parameters', parameter }, headers);
    const of = (...part: Part[]): Part => ({ name: 'subject', part });
    const one = subject(view('Patient'));
    it.each<[string, readonly Part[], number, string, string]>([
      [
        'two ways of naming one',
        [of(one), of(one, { name: 'subjectCanonical', valueCanonical: 'urn:x' })],
        400,
        'invalid',
        'subject[1]',
      ],
      [
        'two equal names',
        [of(one, { name: 'name', valueString: 'x' }), of(one, { name: 'name', valueString: 'x' })],
        400,
        'invalid',
        'subject',
      ],
      [
        'parameters of a view',
        [of(one, { name: 'parameters', resource: { resourceType: 'Parameters' } })],
        400,
        'invalid',
        'subject[0].parameters',
      ],
      [
        'an unknown subject',
        [of(one), of({ name: 'subjectCanonical', valueCanonical: 'urn:x' })],
        404,
        'not-found',
        'subject[1].subjectCanonical',
      ],
      [
        'a subject of another kind',
        [of(subject({ resourceType: 'Patient' }))],
        422,
        'invalid',
        'subject[0].subjectResource',
      ],
      [
        'a context that nothing needs',
        [of(one), { name: 'context', resource: { ...view('Group'), url: 'urn:g' } }],
        400,
        'invalid',
        'context',
      ],
      [
        'a part of another type',
        [of(one), of(one, { name: 'name', valueInteger: 1 })],
        400,
        'value',
        'subject[1].name',
      ],
      [
        'an unknown part',
        [of(one), of({ name: 'other', valueString: 'x' }, one)],
        400,
        'not-supported',
        'subject[1].other',
      ],
      ['no subject', [format('csv')], 400, 'required', 'subject'],
    ])('%s', async (_title, parts, status, code, expression) => {
      const answer = await start(parts);
      expect(answer.status, answer.text).toBe(status);
      const [first] = issuesOf(answer);
      expect([first?.code, first?.expression?.[0] ?? '']).toEqual([code, expression]);
    });

    it('without the header, and by GET', async () => {
      const plain = await start([of(one)], {});
      expect([plain.status, issuesOf(plain)[0]!.code]).toEqual([400, 'required']);
      const got = await server.all.send('GET', '/$sql-export?_format=csv', undefined, ASYNC);
      expect([got.status, issuesOf(got)[0]!.code, got.headers['allow']]).toEqual([400, 'required', 'POST']);
      expect((await server.all.send('DELETE', '/$sql-export', undefined, ASYNC)).status).toBe(405);
    });

    it('all in one answer, the gravest first', async () => {
      const parts = [
        of(subject({ ...view('Patient'), select: [] })),
        of(one, { name: 'name', valueString: '../x' }),
        of({ name: 'subjectCanonical', valueCanonical: 'urn:x' }),
        of(subject(library('SELECT 1 FROM v', { v: 'urn:none' }))),
        format('fhir'),
        { name: '_limit', valueInteger: 1 },
      ];
      expect(summaryOf(await start(parts, {}))).toEqual([
        404,
        'not-found subject[2].subjectCanonical',
        'not-found ',
        'required ',
        'not-supported _limit',
        'invalid _format',
        'value subject[1].name',
        'invalid subject[0].subjectResource',
      ]);
    });
  });
}
