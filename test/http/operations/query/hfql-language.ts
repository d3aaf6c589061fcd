import { beforeAll, expect, it } from 'vitest';

import type { Store } from '../../../../runtime/store/store.js';
import { scopedServer } from '../../auth/scoped.js';
import { expectRefusal } from '../../write-server.js';

const PATIENT = {
  resourceType: 'Patient',
  id: 'all',
  active: true,
  name: [{ family: 'Line\nbreak, "quoted"', given: ['A', 'B'] }],
  telecom: [{ system: 'phone', value: '1', rank: 2, period: { start: '2020-01-01' } }],
  birthDate: '1980-02-29',
  deceasedDateTime: '2024-05-06T07:08:09+02:00',
  multipleBirthInteger: 3,
  photo: [{ contentType: 'image/png', size: '9007199254740993', creation: '2020-01-01' }],
};

const OBSERVATION = {
  resourceType: 'Observation',
  id: 'time',
  status: 'final',
  code: { coding: [{ system: 'http://example.org/c', code: 'x' }], text: 'X' },
  subject: { reference: 'Patient/all' },
  issued: '2024-01-01T10:00:00.123Z',
  valueTime: '12:30:00',
  component: [{ code: { text: 'a' }, valueQuantity: { value: 1.5 } }],
};

const RISK = {
  resourceType: 'RiskAssessment',
  id: 'risk',
  status: 'final',
  subject: { reference: 'Patient/all' },
  prediction: [{ probabilityDecimal: 0.5, relativeRisk: 1.5 }],
};

/** Each value, its type in FHIR, that of its column, and its text. */
const TYPES: readonly (readonly [fhir: string, from: string, clause: string, column: string, text: string])[] = [
  ['boolean', 'Patient', 'active', 'BOOLEAN', 'true'],
  ['date', 'Patient', 'birthDate', 'DATE', '1980-02-29'],
  ['dateTime', 'Patient', 'deceased.ofType(dateTime)', 'TIMESTAMP', '2024-05-06T07:08:09+02:00'],
  ['instant', 'Observation', 'issued', 'TIMESTAMP', '2024-01-01T10:00:00.123Z'],
  ['decimal', 'RiskAssessment', 'prediction[0].relativeRisk', 'DECIMAL', '1.5'],
  ['integer', 'Patient', 'multipleBirth.ofType(integer)', 'INTEGER', '3'],
  ['positiveInt', 'Patient', 'telecom[0].rank', 'INTEGER', '2'],
  ['integer64', 'Patient', 'photo[0].size', 'LONGINT', '9007199254740993'],
  ['meta.versionId', 'Patient', 'meta.versionId', 'LONGINT', '1'],
  ['time', 'Observation', 'value.ofType(time)', 'TIME', '12:30:00'],
  ['a count of values', 'Patient', 'name.given.count()', 'STRING', '2'],
  ['iif() with single values', 'Patient', "iif(name.given.count() > 1, 'many', 'few')", 'STRING', 'many'],
  ['iif() with single elements', 'Patient', "iif(birthDate.exists(), birthDate, 'none')", 'STRING', '1980-02-29'],
  ['iif() with what can repeat', 'Patient', "iif(active, name.given, 'none')", 'JSON', '["A","B"]'],
  ['joined texts', 'Patient', "'x' & id", 'STRING', 'xall'],
  ['a quotient', 'Patient', '1 / 2', 'STRING', '0.5'],
  ['a date that is worked out', 'Patient', 'birthDate + 1 year', 'STRING', '1981-02-28'],
  ['a union', 'Patient', 'name.given.union(name.given)', 'JSON', '["A","B"]'],
  ['what ends in toInteger()', 'Patient', 'meta.versionId.toInteger()', 'INTEGER', '1'],
  ['code', 'Observation', 'status', 'STRING', 'final'],
  ['uri', 'Observation', 'code.coding[0].system', 'STRING', 'http://example.org/c'],
  ['id', 'Patient', 'id', 'STRING', 'all'],
  ['string', 'Patient', 'name[0].family', 'STRING', 'Line\nbreak, "quoted"'],
  ['one that can repeat', 'Patient', 'name.given', 'JSON', '["A","B"]'],
  ['one with first()', 'Patient', 'name.given.first()', 'STRING', 'A'],
  ['one with last()', 'Patient', 'name.given.last()', 'STRING', 'B'],
  ['one with [n]', 'Patient', 'name.given[1]', 'STRING', 'B'],
  ['complex', 'Observation', 'subject', 'STRING', '{"reference":"Patient/all"}'],
  ['complex that can repeat', 'Patient', 'telecom.period', 'JSON', '[{"start":"2020-01-01"}]'],
  ['nothing there', 'Patient', 'gender', 'STRING', ''],
];

/** One of them is now. */
const YEARS = Array.from({ length: 60 }, (_, i) => 2025 + i);

/** Statements, and the fields of their rows. */
const GRAMMAR: readonly (readonly [statement: string, rows: readonly (readonly string[])[]])[] = [
  ['select id from Patient', [['all']]],
  ['from Patient select id', [['all']]],
  ["where id = 'all' limit 5 select id from Patient", [['all']]],
  ['SELECT id FROM Patient WHERE active = true LIMIT 1', [['all']]],
  ['select id from Patient where active = false', []],
  ['select a: id, b: active from Patient', [['all', 'true']]],
  ["select id as 'a name' from Patient", [['all']]],
  ['select `id` from Patient', [['all']]],
  ["select id from Patient where telecom.value in ('1')", [['all']]],
  ["select id from Patient where telecom.value in ('0', '1')", [['all']]],
  ["select id from Patient where telecom.value in ('0'|'1')", [['all']]],
  ["select id from Patient where id in search_match('birthdate', 'ge1980,lt1970')", [['all']]],
  ["select id from Patient where id in search_match('active:not', 'true')", []],
  ['select id from Patient where name.exists() and telecom.count() = 1', [['all']]],
  ['select id from Patient where name.given.count() > 5', []],
  ["select id from Patient where meta.lastUpdated = '2020-01-01'", []],
  ["select id from Patient where meta.lastUpdated in ('2020', '2999')", []],
  [`select id from Patient where meta.lastUpdated in ('2020', '${YEARS.join("', '")}')`, [['all']]],
  ['select id from Patient where name.family = \'Line\\nbreak, "quoted"\'', [['all']]],
  ['select id from Patient where (name.family = \'Line\\nbreak, "quoted"\')', [['all']]],
  ['select id from Patient where name.family in (\'\\u004cine\\nbreak, "quoted"\')', [['all']]],
  ["select id from Patient where meta.lastUpdated != '2020-01-01'", [['all']]],
  ['select id from Patient where meta.lastUpdated > @2020-01-01', [['all']]],
  ['select id from Patient where meta.lastUpdated >= @2020-01-01T00:00:00Z', [['all']]],
  ['select id from Patient where meta.lastUpdated < @2020-01-01', []],
  ['select id from Patient where meta.lastUpdated <= @2020', []],
  ['select id from Patient where meta.lastUpdated ~ @2001-01-01', []],
  ['select id from Patient where birthDate > @1979-12-31', [['all']]],
  ['select id from Patient where birthDate >= @1980', []],
  ['select count(*) from Patient', [['1']]],
  ['select COUNT( name.given ) as n from Patient', [['1']]],
  ['select count(gender) from Patient', [['0']]],
  ['select name.given, count(*) from Patient group by name.given order by name.given asc', [['A', '1'], ['B', '1']]], // prettier-ignore
  ['select gender, active, count(*) from Patient group by gender, active', [['', 'true', '1']]],
  ['select gender from Patient group by gender', [['']]],
  ['select name[0].family as f, count(*) from Patient group by name[0].family order by COUNT(*) desc, f', [['Line\nbreak, "quoted"', '1']]], // prettier-ignore
  ['select code.coding[0].code as c, count(*) from Observation group by code.coding[0].code', [['x', '1']]],
  ['select code.coding[1].code as c, count(*) from Observation group by code.coding[1].code', [['', '1']]],
  ['select code.text, status, count(*) from Observation group by code.text, status', [['X', 'final', '1']]],
  ["select status, count(*) from Observation where code.text = 'X' group by status", [['final', '1']]],
  ["select status, count(*) from Observation where id in search_match('subject:Patient.active', 'true') group by status", [['final', '1']]], // prettier-ignore
  ["select status, count(*) from Observation where id in search_match('code', 'y') group by status", []],
  ['select id from Patient order by id limit 0', []],
];

/** What is wrong with a statement, and what the row says. */
const ERRORS: readonly (readonly [statement: string, text: string])[] = [
  ['select', 'Expected an expression'],
  ['from Patient', 'has no SELECT'],
  ['nonsense', 'Expected SELECT, FROM'],
  ['select id from', 'Expected a resource type'],
  ["select id from 'Patient'", 'Expected a resource type'],
  ['select id from Patient from Patient', 'second FROM'],
  ["select id from Patient where id = 'a' where id = 'b'", 'second WHERE'],
  ['select gender from Patient group by gender group by gender', 'second GROUP'],
  ['select id from Patient order by id order by id', 'second ORDER'],
  ['select id from Patient limit 1 limit 1', 'second LIMIT'],
  ['select id from Patient order id', 'Expected BY'],
  ['select id from Patient limit', 'a whole number'],
  ['select id from Patient limit 1000000000', 'a whole number of at most 9 digits'],
  ['select id from Patient where gender', 'gender is no condition: it is code'],
  [
    "select id from Patient where id in search_match('nam', 'x')",
    'did you mean "name"? valid here: _id, _lastUpdated, active',
  ],
  ['select id from Patient where birthDate < now()', 'now() cannot be called here: what it gives today'],
  ['select id from Patient limit -1', 'a whole number'],
  ['select id from Patient limit 1.5', 'a whole number'],
  ['select id,, active from Patient', 'Expected an expression'],
  ['select id as from Patient', ''],
  ['select count(*) as from', ''],
  ['select count(id from Patient', 'Expected ")"'],
  ['select id from Patient where id in ()', 'a text in single quotes'],
  ["select id from Patient where id in ('a'", 'Expected ")"'],
  ['select id from Patient where id in (a)', 'a text in single quotes'],
  ["select id from Patient where id in search_match 'a', 'b'", 'Expected "("'],
  ["select id from Patient where id in search_match('a', 'b', 'c')", 'two texts'],
  ["select id from Patient where id in search_match('birthdate', 'x')", 'birthdate'],
  ["select id from Patient where id in search_match('_id:nonsense', 'x')", '_id'],
  ["select id from Patient where id in search_match('_content', 'x')", '_id, _lastUpdated and _has'],
  ['select id from Patient where (active = true', 'not closed'],
  ["select id from Patient where active = true or id = 'b'", 'no OR'],
  ['select id from Patient where active =', 'active'],
  ['select name[ from Patient', 'not closed'],
  ['select name. from Patient', 'has no FROM'],
  ['select id from Patient where nonsense()', 'nonsense'],
  ['select resolve() from Patient', 'resolve'],
  ["select name.family.matches('(a+)+b') from Patient", 'matches'],
  ['select today() from Patient', 'today'],
  ['select %nonsense from Patient', 'nonsense'],
  ['select active, count(*) from Patient group by gender', 'neither counted nor in GROUP BY'],
  ['select * from Patient group by gender', 'neither counted nor in GROUP BY'],
  ['select count(*) from Patient order by gender', 'no column of the result'],
  ['select id "x" from Patient', 'Unexpected character'],
  ['select id; drop table resource', 'Unexpected character ";"'],
  [`select ${'id,'.repeat(300)} id from Patient`, '200 items'],
  [`select id from Patient where id = '${'x'.repeat(50_001)}'`, 'characters'],
];

/** Each production of the grammar, each type of column, each error. docs/hfql.md */
export function hfqlLanguage(store: Store): void {
  const server = scopedServer(store);
  const send = (parameters: Readonly<Record<string, string | number>>) =>
    server.all.send('POST', '/$hfql-execute', {
      resourceType: 'Parameters',
      parameter: Object.entries(parameters).map(([name, value]) =>
        typeof value === 'number' ? { name, valueInteger: value } : { name, valueString: value },
      ),
    });
  const run = async (query: string) => {
    const answer = await send({ action: 'search', query });
    expect(answer.status, answer.text).toBe(200);
    const records = parse(answer.text);
    const { select } = JSON.parse(records[1]![2]!) as { select: { dataType: string; alias: string }[] };
    return { select, rows: records.slice(2) };
  };

  beforeAll(async () => {
    for (const each of [PATIENT, OBSERVATION, RISK]) {
      const { status, text } = await server.all.send('PUT', `/${each.resourceType}/${each.id}`, each);
      expect(status, text).toBe(201);
    }
  });

  it.each(TYPES)('a column of %s', async (_fhir, from, clause, column, text) => {
    const { select, rows } = await run(`select ${clause} from ${from}`);
    expect(select.map(({ dataType }) => dataType)).toEqual([column]);
    expect(rows).toEqual([['0', text]]);
  });

  it.each(GRAMMAR)('%s', async (statement, rows) => {
    const found = await run(statement);
    expect(found.select[0]?.alias).not.toBe('Error');
    expect(found.rows.map(([, ...fields]) => fields)).toEqual(rows);
  });

  it.each(ERRORS.map(([statement, text]) => [statement.slice(0, 80), statement, text] as const))(
    'an error: %s',
    async (_short, statement, text) => {
      const { select, rows } = await run(statement);
      expect(select).toMatchObject([{ alias: 'Error', dataType: 'STRING' }]);
      expect(rows).toEqual([['-1', expect.stringContaining(text)]]);
    },
  );

  it('more groups of one resource than there may be are an error', async () => {
    const values = Array.from({ length: 101 }, (_, i) => `v${i}`);
    const crowd = { resourceType: 'Group', id: 'crowd', type: 'person', membership: 'enumerated', identifier: values.map((value) => ({ value, system: `urn:${value}` })) }; // prettier-ignore
    expect((await server.all.send('PUT', '/Group/crowd', crowd)).status).toBe(201);
    const { rows } = await run('select count(*) from Group group by identifier.value, identifier.system');
    expect(rows).toEqual([['-1', expect.stringContaining('10000 groups')]]);
  });

  it('a request without what its action needs is refused', async () => {
    const statement = '{}';
    for (const [missing, sent] of [
      ['statement', { continuation: 'x', offset: 0 }],
      ['continuation', { statement, offset: 0 }],
      ['offset', { statement, continuation: 'x' }],
      ['offset', { statement, continuation: 'x', offset: -1 }],
    ] as const) {
      expectRefusal(await send({ action: 'searchContinuation', ...sent }), 400, 'parameter-invalid', missing);
    }
  });
}

/** The fields of each line. */
function parse(text: string): string[][] {
  const lines: string[][] = [];
  let fields: string[] = [];
  for (const [, quoted, plain = '', end] of text.matchAll(/(?:"((?:[^"]|"")*)"|([^",\n]*))(,|\n)/g)) {
    fields.push(quoted === undefined ? plain : quoted.replaceAll('""', '"'));
    if (end !== '\n') continue;
    lines.push(fields);
    fields = [];
  }
  return lines;
}
