import { beforeAll, describe, expect, it } from 'vitest';

import type { JsonObject } from '../../../../runtime/fhir/resource.js';
import { readJson } from '../../../../runtime/format/read-json.js';
import { writeJson } from '../../../../runtime/format/write-json.js';
import type { Store } from '../../../../runtime/store/store.js';
import { scopedServer } from '../../auth/scoped.js';
import type { Answer } from '../../server.js';
import { expectRefusal } from '../../write-server.js';
import { library } from './library.js';

type Part = Readonly<Record<string, unknown>>;

const VIEWS = 'https://views.example';

function view(resource: string, paths: Readonly<Record<string, string>>, more: JsonObject = {}): JsonObject {
  const column = Object.entries(paths).map(([name, path]) => {
    const [text = '', type, collection] = path.split('|');
    return {
      name,
      path: text,
      ...(type !== undefined && type !== '' && { type }),
      ...(collection !== undefined && { collection: true }),
    };
  });
  return { resourceType: 'ViewDefinition', status: 'active', resource, select: [{ column }], ...more };
}

/** Queries of SQL on FHIR: Libraries as subjects of `$sql-run`. */
export function sqlQueries(store: Store): void {
  const server = scopedServer(store);
  const run = (
    parameter: readonly Part[],
    as: Pick<typeof server.all, 'send'> = server.all,
    headers: Record<string, string> = {},
  ): Promise<Answer> =>
    as.send('POST', '/$sql-run', writeJson({ resourceType: 'Parameters', parameter } as unknown as JsonObject), {
      'content-type': 'application/fhir+json',
      ...headers,
    });
  const subject = (resource: JsonObject): Part => ({ name: 'subjectResource', resource });
  const context = (resource: JsonObject): Part => ({ name: 'context', resource });
  const format = (valueCode: string): Part => ({ name: '_format', valueCode });
  const given = (...parameter: readonly Part[]): Part => ({
    name: 'parameters',
    resource: { resourceType: 'Parameters', parameter },
  });
  const rowsOf = ({ status, text }: Answer): JsonObject[] => {
    expect(status, text).toBe(200);
    return text.split('\n').filter((line) => line !== '').map((line) => readJson(line) as JsonObject); // prettier-ignore
  };
  const ask = async (
    sql: string,
    tables: Readonly<Record<string, string>> = PEOPLE,
    ...more: readonly Part[]
  ): Promise<JsonObject[]> => rowsOf(await run([subject(library(sql, tables)), ...more]));
  const refused = async (parts: readonly Part[], status: number, code: string, expression: string): Promise<void> => {
    const answer = await run(parts);
    expectRefusal(answer, status, code);
    const [issue] = (answer.json() as { issue: { expression?: string[] }[] }).issue;
    expect(issue?.expression?.[0] ?? '', answer.text).toBe(expression);
  };
  const PEOPLE = { p: `${VIEWS}/people` };

  beforeAll(async () => {
    const put = async (resource: JsonObject | string, url?: string): Promise<void> => {
      const at =
        url ?? `/${String((resource as JsonObject)['resourceType'])}/${String((resource as JsonObject)['id'])}`;
      const { status, text } = await server.all.send('PUT', at, resource, { 'content-type': 'application/fhir+json' });
      expect(status, text).toBe(201);
    };
    await put(view('Patient', { id: 'getResourceKey()|id', active: 'active', born: 'birthDate', gender: 'gender', given: 'name.given||list' }, { id: 'people', url: `${VIEWS}/people`, version: '1', name: 'people' })); // prettier-ignore
    await put(view('Observation', { id: 'id', patient: 'subject.getReferenceKey(Patient)', value: 'value.ofType(Quantity).value', issued: 'issued', count: 'value.ofType(integer)' }, { id: 'values', url: `${VIEWS}/values` })); // prettier-ignore
    await put(library('SELECT patient, max(value) AS most, count(*) AS n FROM o GROUP BY patient', { o: `${VIEWS}/values` }, { id: 'most', url: `${VIEWS}/most` }, 'sql-view')); // prettier-ignore
    await put(library('SELECT id, active FROM p', PEOPLE, { id: 'plain', url: `${VIEWS}/plain`, name: 'plain' }, 'sql-view')); // prettier-ignore
    await put(library('SELECT count(*) AS n FROM p', PEOPLE, { id: 'count', url: `${VIEWS}/count`, version: '2' }));
    await put({ resourceType: 'Patient', id: 'sq-a', active: true, birthDate: '1950-02-03', gender: 'female', name: [{ given: ['Ada', 'Eve'] }] }); // prettier-ignore
    await put({ resourceType: 'Patient', id: 'sq-b', active: false, birthDate: '1990-02-03', gender: 'male' });
    await put({ resourceType: 'Patient', id: 'sq-c', gender: 'other' });
    const observation = (id: string, patient: string, value: string, issued: string): string =>
      `{"resourceType":"Observation","id":"${id}","status":"final","code":{"text":"x"},"subject":{"reference":"Patient/${patient}"},"issued":"${issued}","valueQuantity":{"value":${value}}}`;
    await put(observation('sq-1', 'sq-a', '5.40', '2020-01-02T03:04:05.678+02:00'), '/Observation/sq-1');
    await put(observation('sq-2', 'sq-a', '7', '2020-01-02T01:04:06Z'), '/Observation/sq-2');
    await put(observation('sq-3', 'sq-b', '2.5', '2020-01-01T23:00:00-05:00'), '/Observation/sq-3');
    await put({ resourceType: 'Group', id: 'sq-g', type: 'person', membership: 'enumerated', member: [{ entity: { reference: 'Patient/sq-b' } }] }); // prettier-ignore
  });

  describe('a query', () => {
    it('is over the tables of views that are stored, and of those that come with the request', async () => {
      const tables = { p: `${VIEWS}/people|1`, o: `${VIEWS}/values`, own: 'urn:own' };
      const own = context(view('Group', { id: 'id' }, { url: 'urn:own' }));
      const sql = 'SELECT p.id, own.id AS g, count(*) AS n FROM own, p JOIN o ON o.patient = p.id GROUP BY 1, 2 ORDER BY 1'; // prettier-ignore
      expect(await ask(sql, tables, own)).toEqual([
        { id: 'sq-a', g: 'sq-g', n: 2 },
        { id: 'sq-b', g: 'sq-g', n: 1 },
      ]);
    });

    it('is named by its canonical, or by a reference, also in a URL', async () => {
      for (const query of [
        `subjectCanonical=${VIEWS}/count`,
        'subjectReference=Library/count',
        `subjectCanonical=${VIEWS}/count|2`,
      ]) {
        const answer = await server.all.send('GET', `/$sql-run?${query}`);
        expect(rowsOf(answer)).toEqual([{ n: 3 }]);
      }
      expect((await server.all.send('GET', `/$sql-run?subjectCanonical=${VIEWS}/count|3`)).status).toBe(404);
    });

    it('may be a view itself, and be over views of views', async () => {
      expect(rowsOf(await server.all.send('GET', '/$sql-run?subjectReference=Library/most'))).toHaveLength(2);
      const two = context(
        library('SELECT m.* FROM m WHERE n > 1', { m: `${VIEWS}/most` }, { url: 'urn:two' }, 'sql-view'),
      );
      const sql = 'SELECT p.born, t.most FROM t JOIN p ON p.id = t.patient';
      expect(await ask(sql, { ...PEOPLE, t: 'urn:two' }, two)).toEqual([{ born: '1950-02-03', most: 7 }]);
    });

    it('sees its labels alone, each Library its own', async () => {
      const inner = context(
        library('SELECT count(*) AS n FROM x', { x: `${VIEWS}/values` }, { url: 'urn:inner' }, 'sql-view'),
      );
      expect(await ask('SELECT i.n, (SELECT count(*) FROM x) AS m FROM i', { i: 'urn:inner', x: `${VIEWS}/people` }, inner)).toEqual([{ n: 3, m: 3 }]); // prettier-ignore
      expect(await ask('SELECT name FROM sqlite_schema', PEOPLE)).toEqual([{ name: 'p' }]);
      await refused([subject(library('SELECT * FROM people', PEOPLE))], 422, 'view-invalid', 'subjectResource');
    });

    it('prefers the dialect of SQLite', async () => {
      const data = (sql: string): string => Buffer.from(sql).toString('base64');
      const content = [
        { contentType: 'application/sql;dialect=postgresql', data: data('SELECT 1 AS n') },
        { contentType: 'application/sql', data: data('SELECT 2 AS n') },
        { contentType: 'application/sql; dialect="sqlite"', data: data('SELECT 3 AS n') },
      ];
      expect(rowsOf(await run([subject(library('', {}, { content }))]))).toEqual([{ n: 3 }]);
      expect(rowsOf(await run([subject(library('', {}, { content: content.slice(0, 2) }))]))).toEqual([{ n: 2 }]);
      await refused(
        [subject(library('', {}, { content: content.slice(0, 1) }))],
        422,
        'view-invalid',
        'subjectResource',
      );
    });

    it('keeps the types of columns that pass through, also through views, and no others', async () => {
      const sql = "SELECT active, active AS yes, CASE WHEN active THEN 1 ELSE 0 END AS made, given, born FROM p WHERE id = 'sq-a'"; // prettier-ignore
      expect(await ask(sql)).toEqual([{ active: true, yes: true, made: 1, given: ['Ada', 'Eve'], born: '1950-02-03' }]);
      expect(await ask("SELECT active FROM v WHERE id = 'sq-b'", { v: `${VIEWS}/plain` })).toEqual([{ active: false }]);
      const values = 'SELECT id, value, issued FROM o ORDER BY issued';
      expect(await ask(values, { o: `${VIEWS}/values` })).toEqual([
        { id: 'sq-1', value: 5.4, issued: '2020-01-02T01:04:05.678Z' },
        { id: 'sq-2', value: 7, issued: '2020-01-02T01:04:06Z' },
        { id: 'sq-3', value: 2.5, issued: '2020-01-02T04:00:00Z' },
      ]);
      expect(await ask('SELECT typeof(value) AS t, value + 1 AS v FROM o ORDER BY v', { o: `${VIEWS}/values` })).toContainEqual({ t: 'real', v: 6.4 }); // prettier-ignore
      expect((await run([subject(library('SELECT 9223372036854775807 AS n'))])).text).toBe(
        '{"n":9223372036854775807}\n',
      );
    });

    it('computes with decimals as such, whole ones too', async () => {
      const o = { o: `${VIEWS}/values` };
      expect(await ask("SELECT value / 2 AS half, typeof(value) AS t FROM o WHERE id = 'sq-2'", o)).toEqual([{ half: 3.5, t: 'real' }]); // prettier-ignore
      const sums =
        'SELECT sum(value) AS s, sum(value) / count(*) AS a, max(value) AS m FROM o GROUP BY patient ORDER BY 1';
      expect(await ask(sums, o)).toEqual([
        { s: 2.5, a: 2.5, m: 2.5 },
        { s: 12.4, a: 6.2, m: 7 },
      ]);
      const halves = "SELECT h / 2 AS q, most / 2 AS m FROM t WHERE h = 1"; // prettier-ignore
      const below = context(library("SELECT value / 7 AS h, value AS most FROM o WHERE id = 'sq-2'", o, { url: 'urn:half' }, 'sql-view')); // prettier-ignore
      expect(await ask(halves, { t: 'urn:half' }, below)).toEqual([{ q: 0.5, m: 3.5 }]);
      const one = subject(library("SELECT value FROM o WHERE id = 'sq-2'", o));
      expect((await run([one, format('fhir')])).text).toContain('{"name":"value","valueDecimal":7}');
    });

    it('has doubles in Parquet, also where the first are whole', async () => {
      const numbers = 'WITH RECURSIVE x(n) AS (SELECT 1 UNION ALL SELECT n + 1 FROM x WHERE n < 1200) SELECT n / 1.0 AS v, n AS w FROM x UNION ALL SELECT 0.5, 1'; // prettier-ignore
      expect((await run([subject(library(numbers)), format('parquet')])).text.slice(0, 4)).toBe('PAR1');
    });

    it('has numbers in a column without a type as they are', async () => {
      const open = context(view('Patient', { id: 'id', n: 'iif(active, 7, id)' }, { url: 'urn:open' }));
      expect(await ask("SELECT n FROM t WHERE id = 'sq-a'", { t: 'urn:open' }, open)).toEqual([{ n: '7' }]);
    });

    it('is csv, json, Parquet and Parameters', async () => {
      const query = subject(
        library('SELECT id, active, count(*) AS "a, b" FROM p GROUP BY 1 ORDER BY 1 LIMIT 1', PEOPLE),
      );
      expect((await run([query, format('csv')])).text).toBe('id,active,"a, b"\nsq-a,true,1\n');
      expect((await run([query, format('json')])).text).toBe('[{"id":"sq-a","active":true,"a, b":1}]');
      expect((await run([query, format('parquet')])).text.slice(0, 4)).toBe('PAR1');
      await refused([query, format('fhir')], 422, 'view-invalid', 'subjectResource');
      const plain = subject(library('SELECT id, active FROM p ORDER BY id LIMIT 1', PEOPLE));
      expect((await run([plain, format('fhir')])).json()).toEqual({
        resourceType: 'Parameters',
        parameter: [
          {
            name: 'row',
            part: [
              { name: 'id', valueId: 'sq-a' },
              { name: 'active', valueBoolean: true },
            ],
          },
        ],
      });
      const none = subject(library('SELECT id, 1 AS n FROM p WHERE false', PEOPLE));
      expect((await run([none, format('csv')])).text).toBe('id,n\n');
      expect((await run([none, format('json')])).text).toBe('[]');
      expect((await run([plain, format('csv')], server.all, { accept: 'application/fhir+json' })).json()).toMatchObject({ resourceType: 'Binary' }); // prettier-ignore
    });

    it('is narrowed before its statement, and cut after it', async () => {
      const sql = 'SELECT count(*) AS n FROM p';
      expect(await ask(sql, PEOPLE, { name: 'patient', valueReference: { reference: 'Patient/sq-a' } })).toEqual([
        { n: 1 },
      ]);
      expect(await ask(sql, PEOPLE, { name: 'group', valueReference: { reference: 'Group/sq-g' } })).toEqual([
        { n: 1 },
      ]);
      expect(await ask(sql, PEOPLE, { name: '_since', valueInstant: '2999-01-01T00:00:00Z' })).toEqual([{ n: 0 }]);
      const rows = 'SELECT count(*) OVER () AS n FROM p';
      expect(await ask(rows, PEOPLE, { name: '_limit', valueInteger: 2 })).toEqual([{ n: 3 }, { n: 3 }]);
      expect(await ask(rows, PEOPLE, { name: '_limit', valueInteger: 0 })).toEqual([]);
    });
  });

  describe('its parameters', () => {
    const parameter = [
      ...['string', 'integer', 'date', 'dateTime', 'boolean', 'decimal'].map((type) => ({
        name: type,
        use: 'in',
        type,
      })),
      { name: 'must', use: 'in', min: 1, max: '1', type: 'string' },
    ];
    const all = parameter.map(({ name }) => `:${name} AS ${name}`).join(', ');
    const query = (sql = `SELECT ${all}`): Part => subject(library(sql, {}, { parameter }));
    const must = { name: 'must', valueString: "x' OR 1=1 --" };

    it('are bound, each with its type; those that are missing are NULL', async () => {
      const values = [
        { name: 'string', valueString: 's' },
        { name: 'integer', valueInteger: 7 },
        { name: 'date', valueDate: '2020-01-02' },
        { name: 'dateTime', valueDateTime: '2020-01' },
        { name: 'boolean', valueBoolean: true },
        { name: 'decimal', valueDecimal: 5.25 },
      ];
      const expected = { string: 's', integer: 7, date: '2020-01-02', dateTime: '2020-01', boolean: 1, decimal: 5.25 };
      expect(rowsOf(await run([query(), given(must, ...values)]))).toEqual([{ ...expected, must: "x' OR 1=1 --" }]);
      expect(rowsOf(await run([query(), given(must)]))).toEqual([{ string: null, integer: null, date: null, dateTime: null, boolean: null, decimal: null, must: must.valueString }]); // prettier-ignore
      expect(rowsOf(await run([query('SELECT typeof(:integer) AS t'), given(must, values[1]!)]))).toEqual([{ t: 'integer' }]); // prettier-ignore
    });

    it('and columns that have a time are in UTC, in the order of time', async () => {
      const times = ['2024', '2024-07-01T03:00:00+02:00', '2024-07-01T01:00:00.5Z', '2024-07-01T01:00:00.50001Z', '2024-06-30T23:00:00-02:00', '9999-12-31T23:00:00-02:00']; // prettier-ignore
      for (const [i, effectiveDateTime] of times.entries()) {
        const resource = { resourceType: 'Observation', id: `st-${i}`, status: 'final', code: { text: 'times' }, effectiveDateTime } as const; // prettier-ignore
        await server.all.send('PUT', `/Observation/st-${i}`, resource, { 'content-type': 'application/fhir+json' });
      }
      const table = context(view('Observation', { id: 'id', at: 'effective.ofType(dateTime)' }, { url: 'urn:times', where: [{ path: "code.text = 'times'" }] })); // prettier-ignore
      const after = async (op: string, valueDateTime: string): Promise<unknown[]> => {
        const sql = `SELECT id, at FROM t WHERE at ${op} :at ORDER BY at, id`;
        const query = library(sql, { t: 'urn:times' }, { parameter: [{ name: 'at', use: 'in', type: 'dateTime' }] });
        const rows = rowsOf(await run([subject(query), table, given({ name: 'at', valueDateTime })]));
        return rows.map(({ id, at }) => `${String(id)} ${String(at)}`);
      };
      const equal = ['st-1 2024-07-01T01:00:00Z', 'st-4 2024-07-01T01:00:00Z'];
      const later = ['st-2 2024-07-01T01:00:00.5Z', 'st-3 2024-07-01T01:00:00.50001Z', `st-5 ${times[5]}`];
      expect(await after('=', '2024-07-01T06:00:00.000+05:00')).toEqual(equal);
      expect(await after('>', '2024-07-01T01:00:00Z')).toEqual(later);
      expect(await after('>=', '2024-07-01T02:00:00+01:00')).toEqual([...equal, ...later]);
      expect(await after('<', '2024-07')).toEqual(['st-0 2024']);
      const seconds = "SELECT max(at) AS at, strftime('%s', min(at)) AS s FROM t WHERE at > '2024-07' AND at < '9'";
      expect(await ask(seconds, { t: 'urn:times' }, table)).toEqual([{ at: '2024-07-01T01:00:00.50001+00:00', s: '1719795600' }]); // prettier-ignore
      const fhir = subject(library("SELECT at FROM t WHERE id = 'st-1'", { t: 'urn:times' }));
      expect((await run([fhir, table, format('fhir')])).text).toContain('"valueDateTime":"2024-07-01T01:00:00Z"');
      for (const i of times.keys()) await server.all.send('DELETE', `/Observation/st-${i}`);
    });

    it.each<[string, Part[], number, string]>([
      ['that is required', [query()], 400, 'parameters'],
      ['that is unknown', [query(), given(must, { name: 'other', valueString: 'x' })], 400, 'parameters'],
      ['of another type', [query(), given(must, { name: 'integer', valueString: '7' })], 400, 'parameters'],
      ['twice', [query(), given(must, must)], 400, 'parameters'],
      ['that is not declared', [query('SELECT :none'), given(must)], 422, 'subjectResource'],
      ['without a name', [query('SELECT ?'), given(must)], 422, 'subjectResource'],
      ['of a view', [subject(view('Patient', { id: 'id' })), given(must)], 400, 'parameters'],
    ])('%s is refused', (_title, parts, status, expression) => refused(parts, status, status === 400 ? 'parameter-invalid' : 'view-invalid', expression)); // prettier-ignore
  });

  describe('is refused', () => {
    const own = (more: JsonObject): Part => context(view('Patient', { id: 'id' }, more));
    const sql = 'SELECT 1 AS n';
    it.each<[string, readonly Part[], string]>([
      ['of another kind', [subject(library(sql, {}, {}, 'logic-library'))], 'subjectResource'],
      ['of another code system', [subject(library(sql, {}, { type: { coding: [{ system: 'urn:x', code: 'sql-query' }] } }))], 'subjectResource'],
      ['of a wrong structure', [subject(library(sql, {}, { status: 7 }))], 'subjectResource'],
      ['without SQL', [subject(library(sql, {}, { content: [] }))], 'subjectResource'],
      ['with a parameter of a view', [subject(library(sql, {}, { parameter: [{ name: 'x', use: 'in', type: 'string' }] }, 'sql-view'))], 'subjectResource'],
      ['with a parameter of another type', [subject(library(sql, {}, { parameter: [{ name: 'x', use: 'in', type: 'Coding' }] }))], 'subjectResource'],
      ['with a query as a table', [subject(library(sql, { q: `${VIEWS}/count` }))], 'subjectResource'],
      ['with a label that is none', [subject(library(sql, { 'a b': `${VIEWS}/people` }))], 'subjectResource'],
      ['with a label of SQLite', [subject(library(sql, { SQLite_x: `${VIEWS}/people` }))], 'subjectResource'],
      ['with two labels alike', [subject(library(sql, { t: `${VIEWS}/people`, T: `${VIEWS}/values` }))], 'subjectResource'],
      ['with a table without a label', [subject(library(sql, {}, { relatedArtifact: [{ type: 'depends-on', resource: `${VIEWS}/people` }] }))], 'subjectResource'],
      ['in a circle', [subject(library(sql, { c: 'urn:c' })), context(library(sql, { d: 'urn:d' }, { url: 'urn:c' }, 'sql-view')), context(library(sql, { c: 'urn:c' }, { url: 'urn:d' }, 'sql-view'))], 'subjectResource'],
      ['too deep', [subject(library(sql, { v: 'urn:0' })), ...Array.from({ length: 17 }, (_, i) => context(library(sql, { v: i === 16 ? `${VIEWS}/people` : `urn:${i + 1}` }, { url: `urn:${i}` }, 'sql-view')))], 'subjectResource'],
      ['over a view that cannot run', [subject(library(sql, { v: 'urn:v' })), context(view('Patient', { id: 'foo(' }, { url: 'urn:v' }))], 'subjectResource'],
      ['that is not SQL', [subject(library('SELECT FROM WHERE'))], 'subjectResource'],
      ['with two columns of one name', [subject(library('SELECT 1 AS n, 2 AS N'))], 'subjectResource'],
    ])('%s', (_title, parts, expression) => refused(parts, 422, 'view-invalid', expression)); // prettier-ignore

    it('with words that show what is wrong with the name of a table', async () => {
      const wrong = library(sql, { 'a b': `${VIEWS}/people` });
      expect((await run([subject(wrong)])).text).toContain(
        'relatedArtifact[0].label: is \\"a b\\"; it names the table: letters',
      );
      const none = library(sql, {}, { relatedArtifact: [{ type: 'depends-on', resource: `${VIEWS}/people` }] });
      expect((await run([subject(none)])).text).toContain('relatedArtifact[0].label: is required; it names the table');
    });

    it.each<[string, readonly Part[], string]>([
      ['with data', [subject(library(sql)), { name: 'resource', resource: { resourceType: 'Patient' } }], 'resource'],
      ['with a context without a URL', [subject(library(sql)), own({})], 'context'],
      ['with two of one URL', [subject(library(sql, { v: 'urn:v' })), own({ url: 'urn:v' }), own({ url: 'urn:v', version: '2' })], 'context'],
      ['with a context that nothing needs', [subject(library(sql)), own({ url: 'urn:v' })], 'context'],
      ['with a context of another version', [subject(library(sql, { v: 'urn:v|2' })), own({ url: 'urn:v', version: '1' })], 'context'],
      ['with a context that is a query', [subject(library(sql, { v: 'urn:v' })), context(library(sql, {}, { url: 'urn:v' }))], 'context'],
      ['with the context of a view', [subject(view('Patient', { id: 'id' })), own({ url: 'urn:v' })], 'context'],
    ])('%s', (_title, parts, expression) => refused(parts, 400, 'parameter-invalid', expression)); // prettier-ignore

    it('over a table that is missing, beside what nothing needs', async () => {
      const query = subject(library(sql, { v: 'urn:none' }));
      await refused([query], 404, 'not-found', '');
      const answer = await run([query, own({ url: 'urn:other' })]);
      expectRefusal(answer, 400, 'parameter-invalid');
      expect((answer.json() as { issue: { code: string }[] }).issue.map(({ code }) => code)).toEqual(['invalid', 'not-found']); // prettier-ignore
    });
  });

  describe('what harms', () => {
    it.each([
      "ATTACH '/etc/passwd' AS x",
      "/* SELECT */ ATTACH ':memory:' AS x",
      'PRAGMA database_list',
      'EXPLAIN SELECT 1',
      "VACUUM INTO '/tmp/x'",
      'CREATE TABLE x (y)',
      'DELETE FROM p',
      'WITH x AS (SELECT 1) DELETE FROM p RETURNING id',
      'INSERT INTO p DEFAULT VALUES RETURNING id',
      'SELECT 1; SELECT 2',
      'SELECT 1; DROP TABLE p',
      "SELECT load_extension('/lib/x.so')",
      "SELECT readfile('/etc/passwd')",
      "SELECT writefile('/tmp/x', 'y')",
      '-- nothing',
      'BEGIN',
    ])('is refused: %s', (sql) => refused([subject(library(sql, PEOPLE))], 422, 'view-invalid', 'subjectResource'));

    it('may have comments, and a semicolon', async () => {
      expect(await ask('/* a */ -- b\n  select 1 AS n; -- c')).toEqual([{ n: 1 }]);
      expect(await ask('VALUES (1, 2)')).toEqual([{ column1: 1, column2: 2 }]);
    });

    it('is ended at its time, and others run meanwhile', async () => {
      const endless = 'WITH RECURSIVE x(n) AS (SELECT 1 UNION ALL SELECT n + 1 FROM x) SELECT count(*) AS n FROM x';
      const begun = performance.now();
      const long = run([subject(library(endless))]);
      expect(await ask('SELECT count(*) AS n FROM p')).toEqual([{ n: 3 }]);
      expectRefusal(await long, 503, 'too-costly');
      expect(performance.now() - begun).toBeLessThan(20_000);
    }, 30_000);

    it('is ended at its memory', async () => {
      expectRefusal(
        await run([subject(library(`SELECT ${[1, 2, 3].map((n) => `hex(zeroblob(200000000)) AS c${n}`).join()}`))]),
        503,
        'too-costly',
      );
    });

    it('is cut where no more is wanted, and breaks off late', async () => {
      const many = 'WITH RECURSIVE x(n) AS (SELECT 1 UNION ALL SELECT n + 1 FROM x) SELECT n FROM x';
      expect(rowsOf(await run([subject(library(many)), { name: '_limit', valueInteger: 3 }]))).toEqual([{ n: 1 }, { n: 2 }, { n: 3 }]); // prettier-ignore
      await refused([subject(library('SELECT hex(zeroblob(10000000)) AS t'))], 422, 'view-invalid', 'subjectResource');
      await refused([subject(library('SELECT 9e999 AS n'))], 422, 'view-invalid', 'subjectResource');
    });
  });

  describe('shows what a search with the token shows', () => {
    it('in each of its tables', async () => {
      const sql = subject(
        library('SELECT p.id, count(o.id) AS n FROM p LEFT JOIN o ON o.patient = p.id GROUP BY 1 ORDER BY 1', {
          ...PEOPLE,
          o: `${VIEWS}/values`,
        }),
      );
      const by = async (scope: string): Promise<JsonObject[]> =>
        rowsOf(await run([sql], server.as(`system/ViewDefinition.r ${scope}`)));
      expect(await by('system/Patient.s?gender=male system/Observation.s')).toEqual([{ id: 'sq-b', n: 1 }]);
      expect(await by('system/Patient.s system/Observation.s?patient=sq-a')).toEqual([
        { id: 'sq-a', n: 2 },
        { id: 'sq-b', n: 0 },
        { id: 'sq-c', n: 0 },
      ]);
      const refusal = await run([sql], server.as('system/ViewDefinition.r system/Patient.s'));
      expectRefusal(refusal, 403, 'scope-missing');
      expect(refusal.text).toContain('Observation');
    });

    it('in the tables of views below', async () => {
      const sql = subject(library('SELECT sum(n) AS n FROM m', { m: `${VIEWS}/most` }));
      const scopes = 'system/ViewDefinition.r system/Library.r system/Observation.s?patient=sq-b';
      expect(rowsOf(await run([sql], server.as(scopes)))).toEqual([{ n: 1 }]);
      expect((await run([sql], server.as('system/ViewDefinition.r system/Observation.s'))).status).toBe(404);
      expect((await run([sql], server.as('system/Observation.s'))).status).toBe(403);
      expect((await run([sql], server.as(`${scopes.replace('Library.r', 'Library.r?status=draft')}`))).status).toBe(
        404,
      );
    });

    it('and names all scopes that it needs, whether what it names is there or not', async () => {
      const about = async (scope: string, ...parts: readonly Part[]): Promise<string> => {
        const { status, text } = await run(parts, server.as(scope));
        return `${status} ${(JSON.parse(text) as { issue: { details: { text: string } }[] }).issue.map(({ details }) => details.text).join()}`; // prettier-ignore
      };
      const named = (id: string): Part => ({
        name: 'subjectReference',
        valueReference: { reference: `Library/${id}` },
      });
      for (const id of ['most', 'none']) {
        expect(await about('system/Observation.s', named(id))).toMatch(/^403 .*: system\/Library\.r$/);
        expect(await about('system/ViewDefinition.r', named(id))).toBe(`404 There is no view and no query "Library/${id}" that the token shows; it lacks system/Library.r`); // prettier-ignore
      }
      expect(await about('system/Library.r', named('most'))).toBe(`404 The table o: There is no view and no query with the canonical "${VIEWS}/values" that the token shows; it lacks system/ViewDefinition.r`); // prettier-ignore
      const both = 'system/Library.r system/ViewDefinition.r';
      expect(await about(both, named('most'))).toMatch(/^403 .*: system\/Observation\.s$/);
      expect(await about(both, named('none'))).toBe('404 There is no view and no query "Library/none"');
      const two = subject(library('SELECT 1 AS n', { ...PEOPLE, o: `${VIEWS}/values` }));
      expect(await about('system/Basic.s', two)).toMatch(/^403 .*: system\/Library\.r system\/ViewDefinition\.r$/);
      expect(await about(both, two)).toMatch(/^403 .*: system\/Observation\.s system\/Patient\.s$/);
      expect(await about(`${both} system/Patient.s`, two)).toMatch(/: system\/Observation\.s system\/Patient\.s; it lacks system\/Observation\.s$/); // prettier-ignore
    });

    it('needs nothing for what comes with the request, but for its rows', async () => {
      const parts = [subject(library('SELECT count(*) AS n FROM v', { v: 'urn:v' })), context(view('Patient', { id: 'id' }, { url: 'urn:v' }))]; // prettier-ignore
      expect(rowsOf(await run(parts, server.as('system/Patient.s?gender=other')))).toEqual([{ n: 1 }]);
      expect((await run(parts, server.as('system/Observation.s'))).status).toBe(403);
      expect(rowsOf(await run([subject(library('SELECT 1 AS n'))], server.as('system/Observation.s')))).toEqual([{ n: 1 }]); // prettier-ignore
    });
  });

  it('gives its process back after HEAD, which reads no rows', async () => {
    const endless = 'WITH RECURSIVE x(n) AS (SELECT 1 UNION ALL SELECT n + 1 FROM x) SELECT n, printf(\'%.*c\', 500, \'x\') AS t FROM x'; // prettier-ignore
    const { status, text } = await server.all.send('PUT', '/Library/endless', library(endless, {}, { id: 'endless' }), {
      'content-type': 'application/fhir+json',
    });
    expect(status, text).toBe(201);
    for (let i = 0; i < 3; i++) {
      const head = await server.all.send('HEAD', '/$sql-run?subjectReference=Library/endless');
      expect(head.status).toBe(200);
    }
    expect(await ask('SELECT count(*) AS n FROM p')).toEqual([{ n: 3 }]);
  });

  it('quotes no value that SQLite cannot use', async () => {
    const answer = await run([subject(library("SELECT json_extract('{}', gender) FROM p", PEOPLE))]);
    expectRefusal(answer, 422, 'view-invalid');
    expect(answer.text).not.toContain('female');
  });

  describe('a UNION', () => {
    const of = async (sql: string): Promise<unknown[]> => (await ask(sql)).map(({ v }) => v);
    it('keeps the type that all of its parts have', async () => {
      const two = "SELECT active AS v FROM p WHERE id = 'sq-a' UNION ALL SELECT active FROM p WHERE id = 'sq-b'";
      expect(await of(`/* UNION */ ${two} ORDER BY 1`)).toEqual([false, true]);
      expect(await of(`${two} ORDER BY v LIMIT 1`)).toEqual([0]);
    });

    it.each([
      ['a number beside a boolean', "SELECT active AS v FROM p WHERE id = 'sq-a' UNION ALL SELECT 5", [1, 5]],
      ['a text beside a list', "SELECT given AS v FROM p WHERE id = 'sq-a' UNION ALL SELECT 'UNION'", ['["Ada","Eve"]', 'UNION']],
      ['a code beside a date', "SELECT born AS v FROM p WHERE id = 'sq-a' UNION SELECT gender FROM p WHERE id = 'sq-a'", ['1950-02-03', 'female']],
      ['a table within', "SELECT v FROM (SELECT active AS v FROM p WHERE id = 'sq-a' UNION ALL SELECT 5)", [1, 5]],
      ['a table of WITH', "WITH t(v) AS (SELECT active FROM p WHERE id = 'sq-a' UNION ALL SELECT 5) SELECT v FROM t", [1, 5]],
    ])('has values as SQLite has them of %s', async (_title, sql, values) => expect(await of(sql)).toEqual(values)); // prettier-ignore

    it('of types that differ has none of FHIR', async () => {
      const sql = 'SELECT born AS v FROM p UNION SELECT gender FROM p';
      expectRefusal(await run([subject(library(sql, PEOPLE)), format('fhir')]), 422, 'view-invalid');
      const alike = 'SELECT born AS v FROM p UNION SELECT born FROM p';
      expect((await run([subject(library(alike, PEOPLE)), format('fhir')])).status).toBe(200);
    });
  });

  it('reads rows with long texts, some at a time', async () => {
    const text = 'x'.repeat(1_000_000);
    const codes = ['l1', 'l2', 'l3', 'l4', 'l5', 'l6'];
    for (const id of codes)
      await server.all.send('PUT', `/Basic/${id}`, { resourceType: 'Basic', id, code: { text } }, { 'content-type': 'application/fhir+json' }); // prettier-ignore
    const long = view('Basic', { id: 'id', text: 'code.text' }, { url: 'urn:long' });
    const sql = 'SELECT count(*) AS n, sum(length(text)) AS length FROM l';
    expect(await ask(sql, { l: 'urn:long' }, context(long))).toEqual([{ n: 6, length: 6_000_000 }]);
    expect(rowsOf(await run([subject(long)])).map(({ id }) => id)).toEqual(codes);
  });

  it('is of one instant, and a Binary in a batch', async () => {
    const resource = {
      resourceType: 'Parameters',
      parameter: [subject(library('SELECT count(*) AS n FROM p', PEOPLE))],
    };
    const answer = await server.all.send('POST', '', {
      ...{ resourceType: 'Bundle', type: 'batch' },
      entry: [{ request: { method: 'POST', url: '$sql-run' }, resource }],
    });
    const [entry] = (answer.json() as { entry: { resource: { data: string } }[] }).entry;
    expect(Buffer.from(entry!.resource.data, 'base64').toString()).toBe('{"n":3}\n');
  });
}
