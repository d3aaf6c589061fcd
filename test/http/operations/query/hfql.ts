import { beforeAll, describe, expect, it } from 'vitest';

import type { Store } from '../../../../runtime/store/store.js';
import { scopedServer } from '../../auth/scoped.js';
import type { Answer } from '../../server.js';
import { expectRefusal } from '../../write-server.js';

/** The fields of each line. */
function parseCsv(text: string): string[][] {
  const lines: string[][] = [];
  let fields: string[] = [];
  for (const [, quoted, plain = '', end] of text.matchAll(/(?:"((?:[^"]|"")*)"|([^,\n]*))(,|\n)/g)) {
    fields.push(quoted === undefined ? plain : quoted.replaceAll('""', '"'));
    if (end !== '\n') continue;
    lines.push(fields);
    fields = [];
  }
  return lines;
}

interface Column {
  readonly clause: string;
  readonly alias: string;
  readonly operator: string;
  readonly dataType: string;
}

interface Result {
  readonly searchId: string;
  readonly limit: string;
  readonly statement: string;
  readonly columns: readonly Column[];
  /** Index of the resource, then the fields. */
  readonly rows: readonly (readonly string[])[];
}

function readResult(answer: Answer): Result {
  expect(answer.status, answer.text).toBe(200);
  expect(answer.headers['content-type']).toBe('text/csv; charset=UTF-8');
  const [protocol, [searchId = '', limit = '', statement = ''] = [], ...rows] = parseCsv(answer.text);
  expect(protocol).toEqual(['1', expect.stringMatching(/^Kiln [0-9.]+$/)]);
  const { select = [] } = (statement === '' ? {} : JSON.parse(statement)) as { select?: Column[] };
  return { searchId, limit, statement, columns: select, rows };
}

/** `$hfql-execute` */
export function hfql(store: Store): void {
  const server = scopedServer(store);
  const run = (
    parameters: Readonly<Record<string, string | number>>,
    as: Pick<typeof server.all, 'send'> = server.all,
  ) => {
    const parameter = Object.entries(parameters).map(([name, value]) => {
      if (typeof value === 'number') return { name, valueInteger: value };
      return name === 'action' ? { name, valueCode: value } : { name, valueString: value };
    });
    return as.send('POST', '/$hfql-execute', { resourceType: 'Parameters', parameter });
  };
  const search = async (
    query: string,
    more: Readonly<Record<string, number>> = {},
    as: Pick<typeof server.all, 'send'> = server.all,
  ) => readResult(await run({ action: 'search', query, ...more }, as));
  const fieldsOf = async (query: string) => (await search(query)).rows.map(([, ...fields]) => fields);
  const errorOf = async (query: string): Promise<string> => {
    const { columns, rows, searchId, limit } = await search(query);
    expect(columns).toMatchObject([{ alias: 'Error', dataType: 'STRING' }]);
    expect({ searchId, limit, rows }).toEqual({ searchId: '', limit: '0', rows: [['-1', expect.any(String)]] });
    return rows[0]![1]!;
  };

  beforeAll(async () => {
    const people = [
      ['homer', 'male', 'Simpson', ['Homer', 'Jay'], '1956-05-12'],
      ['marge', 'female', 'Simpson', ['Marge'], '1956-10-01'],
      ['ned', 'male', 'Flanders', ['Ned "Neddy"'], undefined],
      ['moe', 'male', "Szys'lak, junior", ['Moe'], '1950'],
    ] as const;
    for (const [id, gender, family, given, birthDate] of people) {
      const answer = await server.all.send('PUT', `/Patient/${id}`, {
        resourceType: 'Patient',
        id,
        ...(id === 'ned' && { meta: { tag: [{ code: 'x' }] } }),
        active: id !== 'moe',
        identifier: [{ system: 'http://example.org/mrn', value: `mrn-${id}` }],
        name: [{ use: 'official', family, given: [...given] }],
        gender,
        ...(birthDate !== undefined && { birthDate }),
      });
      expect(answer.status, answer.text).toBe(201);
    }
    const values = [
      ['o1', 'a', 1.5, 'homer'],
      ['o2', 'a', 10, 'homer'],
      ['o3', 'b', 2, 'marge'],
      ['o4', 'c', undefined, 'ned'],
    ] as const;
    for (const [id, code, value, patient] of values) {
      const answer = await server.all.send('PUT', `/Observation/${id}`, {
        resourceType: 'Observation',
        id,
        status: 'final',
        code: { coding: [{ system: 'http://example.org/c', code }] },
        subject: { reference: `Patient/${patient}` },
        effectiveDateTime: '2024-01-01T10:00:00Z',
        ...(value !== undefined && { valueQuantity: { value, unit: 'kg' } }),
      });
      expect(answer.status, answer.text).toBe(201);
    }
  });

  describe('statements', () => {
    it('selects columns with names and types', async () => {
      const { columns, rows, limit, searchId } = await search(
        "select name[0].family as fam, birthDate, id: id from Patient where gender = 'female' limit 2",
      );
      expect(columns).toEqual([
        { clause: 'name[0].family', alias: 'fam', operator: 'SELECT', dataType: 'STRING' },
        { clause: 'birthDate', alias: 'birthDate', operator: 'SELECT', dataType: 'DATE' },
        { clause: 'id', alias: 'id', operator: 'SELECT', dataType: 'STRING' },
      ]);
      expect(rows).toEqual([['0', 'Simpson', '1956-10-01', 'marge']]);
      expect(limit).toBe('2');
      expect(searchId).not.toBe('');
    });

    it('takes clauses in any order, keywords in any case', async () => {
      const found = await fieldsOf("Limit 1 FROM Patient wHere id = 'homer' seLect name.given, name.given.first()");
      expect(found).toEqual([['["Homer","Jay"]', 'Homer']]);
    });

    it('gives each type of FHIR its type of column', async () => {
      const query =
        'select active, birthDate, meta.lastUpdated, meta.versionId, name.given, name, name[0], gender, name.given.count(), ' +
        "meta.versionId.toInteger(), Patient.id from Patient where id = 'homer'";
      const { columns, rows } = await search(query);
      expect(columns.map(({ dataType }) => dataType)).toEqual([
        ...[
          'BOOLEAN',
          'DATE',
          'TIMESTAMP',
          'LONGINT',
          'JSON',
          'JSON',
          'STRING',
          'STRING',
          'STRING',
          'INTEGER',
          'STRING',
        ],
      ]);
      const [, active, birthDate, updated, version, given, name, first, ...rest] = rows[0]!;
      expect([active, birthDate, version, given]).toEqual(['true', '1956-05-12', '1', '["Homer","Jay"]']);
      expect(updated).toMatch(/^\d{4}-\d\d-\d\dT/);
      const human = { use: 'official', family: 'Simpson', given: ['Homer', 'Jay'] };
      expect([JSON.parse(name!), JSON.parse(first!)]).toEqual([[human], human]);
      expect(rest).toEqual(['male', '2', '1', 'homer']);
      const numbers = await search("select value.ofType(Quantity).value, effective from Observation where id = 'o1'");
      expect(numbers.columns.map(({ dataType }) => dataType)).toEqual(['DECIMAL', 'STRING']);
      expect(numbers.rows[0]).toEqual(['0', '1.5', '2024-01-01T10:00:00Z']);
    });

    it('selects all elements of the first level with *', async () => {
      const { columns, rows } = await search("select * from Patient where id = 'moe'");
      const names = columns.map(({ alias }) => alias);
      expect(names).toEqual([...names].sort());
      expect(names).toEqual(
        expect.arrayContaining(['active', 'birthDate', 'id', 'identifier', 'meta', 'name', 'text']),
      );
      expect(names).not.toEqual(expect.arrayContaining(['extension']));
      expect(names).not.toEqual(expect.arrayContaining(['modifierExtension']));
      expect(rows[0]![1 + names.indexOf('active')]).toBe('false');
    });

    it('names columns without a name apart', async () => {
      const { columns } = await search('select id, id, id from Patient limit 1');
      expect(columns.map(({ alias }) => alias)).toEqual(['id', 'id2', 'id3']);
    });

    it('quotes what CSV has to quote', async () => {
      expect(await fieldsOf("select name[0].given[0], id from Patient where id = 'ned'")).toEqual([
        ['Ned "Neddy"', 'ned'],
      ]);
      expect(await fieldsOf("select name[0].family from Patient where name.family = 'Szys\\'lak, junior'")).toEqual([
        ["Szys'lak, junior"],
      ]);
    });
  });

  describe('WHERE', () => {
    const idsOf = async (where: string, type = 'Patient') =>
      (await fieldsOf(`select id from ${type} where ${where}`)).map(([id]) => id).sort();

    it.each([
      ["gender = 'male'", ['homer', 'moe', 'ned']],
      ["gender = 'MALE'", []],
      ["Patient.gender = 'male' and active = true", ['homer', 'ned']],
      ['active = false', ['moe']],
      ["name.family = 'Simpson'", ['homer', 'marge']],
      ["name.family = 'simpson'", []],
      ["name.given = 'Jay'", ['homer']],
      ["identifier.value = 'mrn-moe'", ['moe']],
      ["birthDate = '1950'", ['moe']],
      ["birthDate = '1956-05-12'", ['homer']],
      ["id IN ('homer', 'moe', 'nobody')", ['homer', 'moe']],
      ["id = 'homer'", ['homer']],
      ["name.family in ('Flanders' | 'Simpson')", ['homer', 'marge', 'ned']],
      ['birthDate.exists().not()', ['ned']],
      ["name.where(use = 'official').given.count() > 1", ['homer']],
      ["(gender = 'female' or birthDate.empty())", ['marge', 'ned']],
      ['meta.versionId.toInteger() > 1', []],
      ['meta.lastUpdated > @2020-01-01', ['homer', 'marge', 'moe', 'ned']],
      ['meta.lastUpdated < @2020-01-01T00:00:00Z', []],
      ["id in search_match('family', 'simp')", ['homer', 'marge']],
      [
        "id in search_match('family:exact', 'Simpson,Flanders') and id in search_match('gender', 'male')",
        ['homer', 'ned'],
      ],
      ["id in search_match('_has:Observation:patient:code', 'b')", ['marge']],
    ])('%s', async (where, ids) => {
      expect(await idsOf(where)).toEqual(ids);
    });

    it('finds codes and references of Observations', async () => {
      expect(await idsOf("code.coding.code = 'a'", 'Observation')).toEqual(['o1', 'o2']);
      expect(await idsOf("code.coding[0].code in ('a', 'b')", 'Observation')).toEqual(['o1', 'o2', 'o3']);
      expect(await idsOf("subject.reference = 'Patient/homer'", 'Observation')).toEqual(['o1', 'o2']);
    });

    it('takes what looks like an attack as a text', async () => {
      const texts = ["' or true = true --", "a' ; drop table resource", '$where', 'a,b|c\\d'];
      for (const text of texts) {
        const literal = `'${text.replace(/[\\']/g, '\\$&')}'`;
        expect(await idsOf(`name.family = ${literal} and gender = ${literal}`)).toEqual([]);
        expect(await idsOf(`id in search_match('family', ${literal})`)).toEqual([]);
      }
    });
  });

  describe('groups, counts and order', () => {
    it('counts by code, the most frequent first', async () => {
      const query =
        'select code.coding[0].code, count(*) from Observation group by code.coding[0].code order by count(*) desc, code.coding[0].code';
      const { columns, rows, searchId, limit } = await search(query);
      expect(columns.map(({ dataType }) => dataType)).toEqual(['STRING', 'INTEGER']);
      expect(rows).toEqual([
        ['0', 'a', '2'],
        ['1', 'b', '1'],
        ['2', 'c', '1'],
      ]);
      expect({ searchId, limit }).toEqual({ searchId: '', limit: '0' });
    });

    it('counts all, and what has a value', async () => {
      expect(await fieldsOf('select count(*) from Observation')).toEqual([['4']]);
      expect(await fieldsOf("select count(*) from Observation where code.coding.code = 'zz'")).toEqual([['0']]);
      expect(await fieldsOf('select count(*), count(value) as n from Observation')).toEqual([['4', '3']]);
      expect(await fieldsOf('select gender, count(birthDate) from Patient group by gender order by gender')).toEqual([
        ['female', '1'],
        ['male', '2'],
      ]);
    });

    it('makes a group of each combination of values, and one of none', async () => {
      const query =
        'select name.given, birthDate, count(*) from Patient group by name.given, birthDate order by name.given';
      expect(await fieldsOf(query)).toEqual([
        ['Homer', '1956-05-12', '1'],
        ['Jay', '1956-05-12', '1'],
        ['Marge', '1956-10-01', '1'],
        ['Moe', '1950', '1'],
        ['Ned "Neddy"', '', '1'],
      ]);
    });

    it('sorts by columns, numbers as numbers, what is absent first', async () => {
      const query = 'select id, value.value as v from Observation order by v';
      expect((await fieldsOf(query)).map(([id]) => id)).toEqual(['o4', 'o1', 'o3', 'o2']);
      expect((await fieldsOf(`${query} desc limit 1`)).map(([id]) => id)).toEqual(['o2']);
    });
  });

  it('what has a value of its own is not what has a number as its value', async () => {
    const goal = {
      resourceType: 'Goal',
      lifecycleStatus: 'active',
      description: { text: 'x' },
      subject: { reference: 'Patient/homer' },
    };
    for (const [id, detail] of Object.entries({ q: { detailQuantity: { value: 60 } }, i: { detailInteger: 70 } })) {
      const target = [{ measure: { text: 'x' }, ...detail }];
      expect((await server.all.send('PUT', `/Goal/${id}`, { ...goal, id, target })).status).toBe(201);
    }
    for (const where of ['target.detail.value > 50', '(target.detail.value > 50)', 'target.detail.value.exists()']) {
      expect(await fieldsOf(`select id from Goal where ${where}`), where).toEqual([['q']]);
    }
  });

  it('times are sorted as points in time, whatever their zones', async () => {
    for (const [id, sent] of [
      ['second', '2024-01-01T07:00:00Z'],
      ['first', '2024-01-01T10:00:00+05:00'],
      ['third', '2024-01-01T05:00:00-03:00'],
    ] as const) {
      const answer = await server.all.send('PUT', `/Communication/${id}`, { resourceType: 'Communication', id, status: 'completed', sent }); // prettier-ignore
      expect(answer.status, answer.text).toBe(201);
    }
    const ids = (await fieldsOf('select id, sent from Communication order by sent')).map(([id]) => id);
    expect(ids).toEqual(['first', 'second', 'third']);
  });

  describe('further rows', () => {
    it('a walk gives each row once, with gaps where conditions leave resources out', async () => {
      const query = 'select id from Patient where name.given.count() < 2';
      const first = await search(query, { fetchSize: 1 });
      const found = [...first.rows];
      for (let last = first.rows; last.length === 1;) {
        const offset = Number(last[0]![0]) + 1;
        const { searchId, statement } = first;
        const next = readResult(
          await run({
            action: 'searchContinuation',
            continuation: searchId,
            statement,
            offset,
            fetchSize: 1,
            limit: -1,
          }),
        );
        expect([next.searchId, next.statement]).toEqual([searchId, '']);
        found.push(...(last = next.rows));
      }
      expect(found.map(([, id]) => id).sort()).toEqual(['marge', 'moe', 'ned']);
      expect(new Set(found.map(([index]) => index)).size).toBe(3);
    });

    it('a walk goes on where another process began it, and keeps to the limit', async () => {
      const { statement, rows } = await search('select id from Patient limit 3', { fetchSize: 2 });
      expect(rows).toHaveLength(2);
      const more = { action: 'searchContinuation', continuation: 'of-another-process', statement, offset: 2, limit: 3 };
      const next = readResult(await run({ ...more, fetchSize: 2 }));
      expect(next.rows).toHaveLength(1);
      expect(next.rows[0]![0]).toBe('2');
      expect(rows.map(([, id]) => id)).not.toContain(next.rows[0]![1]);
    });

    it('the smaller of LIMIT and limit counts', async () => {
      expect((await search('select id from Patient limit 3', { limit: 2 })).rows).toHaveLength(2);
      expect((await search('select id from Patient limit 1', { limit: 2 })).rows).toHaveLength(1);
      expect((await search('select id from Patient', { limit: 0, fetchSize: 0 })).rows).toHaveLength(0);
    });
  });

  describe('errors of a statement are a row', () => {
    it.each([
      ['from Patient', 'has no SELECT'],
      ['select id', 'has no FROM'],
      ['select id from Foo', 'no resource type "Foo" at line 1, column 16'],
      ['select id from patient', 'did you mean Patient?'],
      ['select id from Patient where', 'Expected an expression'],
      ['select id from Patient select id', 'second SELECT'],
      ["select id from Patient where gender = 'male", 'no closing quote'],
      ['select id from Patient where gender = male', "'male'"],
      ["select id from Patient where gender = 'male' or active = true", 'no OR'],
      ['select id from Patient where nonsense = true', 'no element nonsense'],
      ['select nonsense from Patient', 'no element nonsense'],
      ['select name.( from Patient', 'not closed'],
      ['select now() from Patient', 'now()'],
      ['select id as a, gender as a from Patient', 'Two columns have the name "a"'],
      ['select id, count(*) from Patient', 'neither counted nor in GROUP BY'],
      ['select id from Patient order by gender', 'no column of the result'],
      ['select id from Patient limit x', 'a whole number'],
      ['select id # from Patient', 'Unexpected character "#" at line 1, column 11'],
      ["select id from Patient where gender in search_match('a', 'b')", 'id alone'],
      ["select id from Patient where id in search_match('a')", 'two texts'],
      ["select id from Patient where id in search_match('nonsense', 'b')", 'nonsense'],
      ["select id from Patient where id in search_match('_tag', 'b')", '_id, _lastUpdated and _has'],
      ['select id from Patient where meta.lastUpdated > @20-1', '_lastUpdated'],
    ])('%s', async (query, text) => {
      expect(await errorOf(query)).toContain(text);
    });

    it('so is what fails on a resource', async () => {
      expect(await errorOf("select id from Patient where name.given.single() = 'x'")).toMatch(
        /fails on Patient\/homer/,
      );
    });

    it('and a statement that is sent back as something else', async () => {
      for (const statement of ['{', '[]', '{"fromResourceName":"Foo","select":[]}', '{"fromResourceName":1}']) {
        const answer = await run({ action: 'searchContinuation', continuation: 'x', statement, offset: 0 });
        expect(readResult(answer).rows[0]![0]).toBe('-1');
      }
    });
  });

  describe('introspection', () => {
    it('lists a table for each type', async () => {
      const { columns, rows } = readResult(await run({ action: 'introspectTables' }));
      expect(columns.map(({ alias }) => alias)).toHaveLength(10);
      expect(rows).toHaveLength(159);
      expect(rows[0]!.slice(1, 5)).toEqual(['', '', 'Account', 'TABLE']);
      const one = readResult(await run({ action: 'introspectTables', introspectTableName: 'Patient' }));
      expect(one.rows.map((row) => row[3])).toEqual(['Patient']);
    });

    it('lists the columns of a table', async () => {
      const { columns, rows } = readResult(
        await run({ action: 'introspectColumns', introspectTableName: 'Patient', introspectColumnName: 'birthDate' }),
      );
      expect(columns).toHaveLength(24);
      const at = (name: string) => rows[0]![1 + columns.findIndex(({ alias }) => alias === name)];
      expect(rows).toHaveLength(1);
      expect(['TABLE_NAME', 'COLUMN_NAME', 'DATA_TYPE', 'TYPE_NAME', 'IS_NULLABLE'].map(at)).toEqual([
        ...['Patient', 'birthDate', '12', 'string', 'YES'],
      ]);
    });
  });

  describe('requests', () => {
    it('that are wrong get an OperationOutcome', async () => {
      expectRefusal(await run({ query: 'x' }), 400, 'parameter-invalid', 'action');
      expectRefusal(await run({ action: 'nonsense' }), 400, 'parameter-invalid', 'nonsense');
      expectRefusal(await run({ action: 'search' }), 400, 'parameter-invalid', 'query');
      const query = 'select id from Patient';
      expectRefusal(await run({ action: 'search', query, fetchSize: 10_001 }), 400, 'parameter-invalid', 'fetchSize');
      expectRefusal(await run({ action: 'search', query, fetchSize: -1 }), 400, 'parameter-invalid', 'fetchSize');
      expectRefusal(await run({ action: 'search', query, nonsense: 1 }), 400, 'parameter-unknown', 'nonsense');
      const more = { action: 'searchContinuation', continuation: 'x', statement: '{}' };
      expectRefusal(await run(more), 400, 'parameter-invalid', 'offset');
      expect((await server.all.send('GET', '/$hfql-execute?action=introspectTables')).status).toBe(405);
    });

    it('may accept CSV alone', async () => {
      const parameter = [
        { name: 'action', valueCode: 'search' },
        { name: 'query', valueString: "select id from Patient where id = 'moe'" },
      ];
      const body = { resourceType: 'Parameters', parameter };
      const answer = await server.all.send('POST', '/$hfql-execute', body, { accept: 'text/csv' });
      expect(readResult(answer).rows).toEqual([['0', 'moe']]);
      const wrong = { ...body, parameter: [{ name: 'action', valueCode: 'x' }] };
      const failed = await server.all.send('POST', '/$hfql-execute', wrong, { accept: 'text/csv' });
      expectRefusal(failed, 400, 'parameter-invalid', 'action');
      const other = await server.all.send('POST', '/$hfql-execute', body, { accept: 'text/plain' });
      expect(other.status).toBe(406);
    });

    it('in a batch give a Binary', async () => {
      const parameter = [
        { name: 'action', valueCode: 'search' },
        { name: 'query', valueString: "select id from Patient where id = 'moe'" },
      ];
      const answer = await server.all.send('POST', '', {
        resourceType: 'Bundle',
        type: 'batch',
        entry: [
          { request: { method: 'POST', url: '$hfql-execute' }, resource: { resourceType: 'Parameters', parameter } },
        ],
      });
      const { resource } = answer.json().entry[0];
      expect(resource).toMatchObject({ resourceType: 'Binary', contentType: 'text/csv; charset=UTF-8' });
      expect(Buffer.from(resource.data, 'base64').toString()).toMatch(/\n0,moe\n$/);
    });
  });

  describe('within the scopes of a token', () => {
    const query = 'select id from Patient';

    it('a type without s is refused, also by way of search_match', async () => {
      const some = server.as('system/Observation.s');
      expect((await run({ action: 'search', query }, some)).status).toBe(403);
      const chained = "select id from Observation where id in search_match('subject:Patient.gender', 'male')";
      expect((await run({ action: 'search', query: chained }, some)).status).toBe(403);
      const statement = (await search(query)).statement;
      const more = { action: 'searchContinuation', continuation: 'x', statement, offset: 0 };
      expect((await run(more, some)).status).toBe(403);
    });

    it('constraints narrow rows, counts and walks', async () => {
      const narrow = server.as('system/Patient.s?_tag=x');
      expect((await search(query, {}, narrow)).rows).toEqual([['0', 'ned']]);
      expect((await search('select count(*) from Patient', {}, narrow)).rows).toEqual([['0', '1']]);
      expect((await search(`${query} where gender = 'female'`, {}, narrow)).rows).toEqual([]);
      const all = await search(query, { fetchSize: 2 });
      const more = { action: 'searchContinuation', continuation: all.searchId, statement: all.statement, offset: 0 };
      expect(readResult(await run(more, narrow)).rows).toEqual([['0', 'ned']]);
    });

    it('introspection shows the types that the token covers', async () => {
      const some = server.as('system/Observation.s system/Patient.c');
      const { rows } = readResult(await run({ action: 'introspectTables' }, some));
      expect(rows.map((row) => row[3])).toEqual(['Observation', 'Patient']);
    });
  });
}
