import { beforeAll, describe, expect, it } from 'vitest';

import type { JsonObject } from '../../../runtime/fhir/resource.js';
import type { Store } from '../../../runtime/store/store.js';
import type { Answer } from '../server.js';
import { expectRefusal } from '../write-server.js';
import { library } from '../operations/query/library.js';
import { ASYNC, jobsServer } from './jobs-server.js';

interface Part {
  readonly name: string;
  readonly part?: readonly Part[];
  readonly [value: `value${string}`]: unknown;
}

const view = (resource: string, more: JsonObject = {}): JsonObject => ({
  ...{ resourceType: 'ViewDefinition', status: 'active', name: `${resource}_table`, resource },
  select: [
    {
      column: [
        { name: 'id', path: 'id' },
        { name: 'value', path: 'iif(true, \'a, "b"\')' },
      ],
    },
  ],
  ...more,
});
const subject = (definition: JsonObject, name?: string) => ({
  name: 'subject',
  part: [
    { name: 'subjectResource', resource: definition },
    ...(name === undefined ? [] : [{ name: 'name', valueString: name }]),
  ],
});

/** `$sql-export`: what it takes, what the files hold, who gets them, how it ends. */
export function sqlExports(store: Store): void {
  const server = jobsServer(store);
  const client = (scopes = 'system/*.rs', id = 'analyst') => server.as(scopes, id);
  const below = (url: unknown): string => String(url).replace(/^.*?\/fhir/, '');
  const send = (
    parameter: readonly object[],
    who = client(),
    headers: Record<string, string> = ASYNC,
  ): Promise<Answer> => who.send('POST', '/$sql-export', { resourceType: 'Parameters', parameter }, headers);
  const start = async (parameter: readonly object[], who = client()): Promise<string> => {
    const answer = await send(parameter, who);
    expect(answer.status, answer.text).toBe(202);
    return below(answer.headers['content-location']);
  };
  const partsOf = (answer: Answer): readonly Part[] => (answer.json() as { parameter: Part[] }).parameter;
  const resultOf = async (status: string, who = client()): Promise<readonly Part[]> => {
    const ended = await who.send('GET', status);
    expect([ended.status, ended.text]).toEqual([303, '']);
    const answer = await who.send('GET', below(ended.headers.location));
    expect(answer.status, answer.text).toBe(200);
    expect(answer.headers['expires']).toBeDefined();
    return partsOf(answer);
  };
  /** Names of the outputs, each with the texts of its files. */
  const filesOf = async (
    result: readonly Part[],
    who = client(),
  ): Promise<Readonly<Record<string, readonly string[]>>> => {
    const outputs: Record<string, string[]> = {};
    for (const { name, part = [] } of result) {
      if (name !== 'output') continue;
      const texts: string[] = [];
      for (const each of part.filter((one) => one.name === 'location')) {
        const answer = await who.send('GET', below(each['valueUri']));
        expect(answer.status).toBe(200);
        texts.push(answer.text);
      }
      outputs[String(part[0]?.['valueString'])] = texts;
    }
    return outputs;
  };

  beforeAll(async () => {
    for (const id of ['a', 'b', 'c']) {
      await server.all.send('PUT', `/Patient/${id}`, {
        resourceType: 'Patient',
        id,
        gender: id === 'b' ? 'male' : 'female',
      });
    }
    await server.all.send('PUT', '/Device/d', { resourceType: 'Device', id: 'd' });
  });

  it('writes the tables of stored views, of the scopes of the client that starts it', async () => {
    const { name: _name, ...definition } = view('Patient', { id: 'stored', url: 'https://views.example/stored' });
    await server.all.send('PUT', '/ViewDefinition/stored', definition);
    const by = (name: string, canonical: string): object => ({
      name: 'subject',
      part: [
        { name: 'subjectCanonical', valueCanonical: canonical },
        { name: 'name', valueString: name },
      ],
    });
    const known = by('one', 'https://views.example/stored');
    const status = await start([known]);
    // What is changed later is not in it.
    await server.all.send('DELETE', '/ViewDefinition/stored');
    await server.finish();
    expect((await filesOf(await resultOf(status)))['one']?.[0]?.split('\n')).toHaveLength(4);
    await server.all.send('PUT', '/ViewDefinition/stored', definition);
    const unknown = await send([known, by('two', 'https://views.example/none')]);
    expectRefusal(unknown, 404, 'not-found');
    expect(unknown.json()).toMatchObject({ issue: [{ expression: ['subject[1].subjectCanonical'] }] });
    expect((await send([known], client('system/Patient.s'))).status).toBe(403);
    expect((await send([known], client('system/ViewDefinition.rs'))).status).toBe(403);
    expect((await send([known], client('system/Patient.s system/ViewDefinition.r?status=draft'))).status).toBe(404);
  });

  it.each([
    ['ndjson', '{"id":"a","value":"a, \\"b\\""}\n', 'application/x-ndjson'],
    ['csv', 'id,value\na,"a, ""b"""\n', 'text/csv; charset=utf-8'],
    ['json', '[{"id":"a","value":"a, \\"b\\""}', 'application/json'],
  ])('writes %s', async (format, text, type) => {
    const status = await start([subject(view('Patient')), { name: '_format', valueCode: format }]);
    const running = await client().send('GET', status);
    expect([running.status, partsOf(running).find(({ name }) => name === 'status')?.['valueCode']]).toEqual([
      202,
      'in-progress',
    ]);
    expect(running.headers['retry-after']).toBeDefined();
    await server.finish();
    const result = await resultOf(status);
    const [file = ''] = (await filesOf(result))['Patient_table'] ?? [];
    expect(file.startsWith(text)).toBe(true);
    const location = result.find(({ name }) => name === 'output')?.part?.find(({ name }) => name === 'location');
    const { headers } = await client().send('GET', below(location?.['valueUri']));
    expect([headers['content-type'], headers['content-disposition']]).toEqual([
      type,
      `attachment; filename="Patient_table.${format}"`,
    ]);
  });

  it.each(['ndjson', 'json', 'csv'])('writes odd texts in %s as a run does, also of what was changed since', async (format) => {
    const texts = ['a\tb', '\ta', 'a\nb', 'a\r\nb\tc', '"', '""\t', ',', '\u2028\t', '\u{1F600}', '","id":"odd0"}\t', '\\\t\\n', '\uFEFFx'];
    const put = (id: string, family: string, gender: string) =>
      server.all.send('PUT', `/Patient/${id}`, { resourceType: 'Patient', id, gender, name: [{ family }] });
    for (const [i, text] of texts.entries())
      expect((await put(`odd${i}`, text, 'other')).status, text).toBeLessThan(202);
    const table = view('Patient', {
      where: [{ path: "gender = 'other'" }],
      select: [{ column: [{ name: 'family', path: 'name.family' }, { name: 'id', path: 'id' }] }],
    });
    const form = { name: '_format', valueCode: format };
    const run = await client().send('POST', '/$sql-run', {
      resourceType: 'Parameters',
      parameter: [{ name: 'subjectResource', resource: table }, form],
    });
    expect(run.status, run.text).toBe(200);
    const status = await start([subject(table), form]);
    for (const i of [1, 4, 9]) await put(`odd${i}`, 'later', 'male');
    await server.all.send('DELETE', '/Patient/odd2');
    await server.finish();
    const [file = ''] = (await filesOf(await resultOf(status)))['Patient_table'] ?? [];
    const rowsOf = (text: string): readonly string[] =>
      text.replace(/^\[|\]$/g, '').split(/(?<=odd\d+(?:"\})?),?\n/).map((row) => row.trimEnd()).sort();
    expect(rowsOf(file)).toEqual(rowsOf(run.text));
    for (const i of texts.keys()) await server.all.send('DELETE', `/Patient/odd${i}`);
  }); // prettier-ignore

  it('writes Parquet', async () => {
    const status = await start([subject(view('Patient')), { name: '_format', valueCode: 'parquet' }]);
    await server.finish();
    const [text = ''] = (await filesOf(await resultOf(status)))['Patient_table'] ?? [];
    expect([text.slice(0, 4), text.slice(-4)]).toEqual(['PAR1', 'PAR1']);
  });

  it('writes a table for each view, also of one type, and one without rows', async () => {
    const none = view('Patient', { where: [{ path: 'false' }] });
    const some = view('Patient', { where: [{ path: "gender = 'male'" }] });
    const tracking = { name: 'clientTrackingId', valueString: 'mine' };
    const format = { name: '_format', valueCode: 'csv' };
    const status = await start([
      subject(view('Device')),
      subject(none, 'none'),
      subject(some, 'some'),
      subject(view('Patient')),
      tracking,
      format,
    ]);
    await server.finish();
    const result = await resultOf(status);
    expect(result.find(({ name }) => name === 'clientTrackingId')?.['valueString']).toBe('mine');
    const files = await filesOf(result);
    expect(
      Object.fromEntries(
        Object.entries(files).map(([name, texts]) => [name, texts.map((text) => text.split('\n').length - 2)]),
      ),
    ).toEqual({
      Device_table: [1],
      none: [0],
      some: [1],
      Patient_table: [3],
    });
  });

  it('makes up names that no other table has', async () => {
    const { name: _name, ...unnamed } = view('Patient');
    const status = await start([subject(unnamed), subject(unnamed, 'view_1'), subject(unnamed)]);
    await server.finish();
    expect(Object.keys(await filesOf(await resultOf(status))).sort()).toEqual(['view_1', 'view_2', 'view_3']);
  });

  it('has what was current at its start, each row once', async () => {
    const two = [subject(view('Patient'), 'x'), subject(view('Patient'), 'y')];
    const status = await start(two);
    await server.all.send('PUT', '/Patient/a', { resourceType: 'Patient', id: 'a', active: false });
    await server.all.send('DELETE', '/Patient/b');
    await server.all.send('PUT', '/Patient/later', { resourceType: 'Patient', id: 'later' });
    await server.finish();
    const files = await filesOf(await resultOf(status));
    for (const name of ['x', 'y']) {
      const ids = (files[name] ?? []).join('').trim().split('\n').map((line) => (JSON.parse(line) as { id: string }).id); // prettier-ignore
      expect(ids.sort(), name).toEqual(['a', 'b', 'c']);
    }
    await server.all.send('DELETE', '/Patient/later');
    await server.all.send('PUT', '/Patient/b', { resourceType: 'Patient', id: 'b', gender: 'male' });
    await server.all.send('PUT', '/Patient/a', { resourceType: 'Patient', id: 'a', gender: 'female' });
  });

  it('has what fulfilled the conditions of a view at its start', async () => {
    const status = await start([subject(view('Patient', { where: [{ path: "gender = 'male'" }] }), 'men')]);
    await server.all.send('PUT', '/Patient/b', { resourceType: 'Patient', id: 'b', gender: 'female' });
    await server.all.send('PUT', '/Patient/a', { resourceType: 'Patient', id: 'a', gender: 'male' });
    await server.finish();
    const [text = ''] = (await filesOf(await resultOf(status)))['men'] ?? [];
    expect(text).toBe('{"id":"b","value":"a, \\"b\\""}\n');
    await server.all.send('PUT', '/Patient/b', { resourceType: 'Patient', id: 'b', gender: 'male' });
    await server.all.send('PUT', '/Patient/a', { resourceType: 'Patient', id: 'a', gender: 'female' });
  });

  it('shows what a search with the token shows, to the client that started it', async () => {
    const narrowed = client('system/Patient.s?gender=male');
    const status = await start([subject(view('Patient'))], narrowed);
    await server.finish();
    const result = await resultOf(status, narrowed);
    expect((await filesOf(result, narrowed))['Patient_table']).toEqual(['{"id":"b","value":"a, \\"b\\""}\n']);
    expectRefusal(await client('system/*.rs', 'other').send('GET', status), 404, 'job-unknown');
    expect((await client('system/Device.s').send('GET', status)).status).toBe(403);
    expect((await send([subject(view('Patient')), subject(view('Device'))], narrowed)).status).toBe(403);
  });

  describe('a query', () => {
    const people = { ...view('Patient', { url: 'urn:people' }), name: 'people' };
    const query = (sql: string, name = 'counts'): object => ({
      name: 'subject',
      part: [
        { name: 'subjectResource', resource: library(sql, { p: 'urn:people' }, { name }) },
        { name: 'parameters', resource: { resourceType: 'Parameters' } },
      ],
    });
    const context = { name: 'context', resource: people };

    it.each(['ndjson', 'csv', 'json', 'parquet'])('writes %s, beside views, of one instant', async (format) => {
      const parts = [
        query('SELECT id FROM p ORDER BY id'),
        subject(view('Device')),
        query('SELECT count(*) AS n FROM p', 'n'),
        context,
      ];
      const status = await start([...parts, { name: '_format', valueCode: format }]);
      await server.all.send('PUT', '/Patient/later', { resourceType: 'Patient', id: 'later' });
      await server.finish();
      await server.all.send('DELETE', '/Patient/later');
      const files = await filesOf(await resultOf(status));
      expect(Object.keys(files).sort()).toEqual(['Device_table', 'counts', 'n']);
      const texts: Readonly<Record<string, string>> = {
        ndjson: '{"id":"a"}\n{"id":"b"}\n{"id":"c"}\n',
        csv: 'id\na\nb\nc\n',
        json: '[{"id":"a"},\n{"id":"b"},\n{"id":"c"}]',
      };
      if (format === 'parquet') expect(files['counts']?.[0]?.slice(0, 4)).toBe('PAR1');
      else expect(files['counts']).toEqual([texts[format]]);
    });

    it('shows what a search with the token shows', async () => {
      const narrowed = client('system/Patient.s?gender=male');
      const status = await start([query('SELECT count(*) AS n FROM p'), context], narrowed);
      await server.finish();
      expect((await filesOf(await resultOf(status, narrowed), narrowed))['counts']).toEqual(['{"n":1}\n']);
      expect((await send([query('SELECT 1 AS n FROM p'), context], client('system/Device.s'))).status).toBe(403);
    });

    it('is refused at once where it is wrong', async () => {
      const wrong = await send([query('SELECT none FROM p'), context]);
      expectRefusal(wrong, 422, 'view-invalid', 'none');
      expect(wrong.json()).toMatchObject({ issue: [{ expression: ['subject[0].subjectResource'] }] });
      expectRefusal(await send([query('SELECT 1 FROM p')]), 404, 'not-found');
      expectRefusal(await send([subject(view('Patient')), context]), 400, 'parameter-invalid', 'urn:people');
    });
  });

  it('ends by DELETE, with its files', async () => {
    const status = await start([subject(view('Patient'))]);
    await server.finish();
    await resultOf(status);
    expect((await client().send('DELETE', status)).status).toBe(202);
    expectRefusal(await client().send('GET', status), 404, 'job-unknown');
    expect(await store.blobs.list('sql-export/')).not.toEqual(
      expect.arrayContaining([
        expect.objectContaining({ key: expect.stringContaining(status.split('=')[1]!) as string }),
      ]),
    );
  });

  it('fails where a view does not allow the data, each time alike', async () => {
    const status = await start([
      subject(view('Patient', { select: [{ column: [{ name: 'a', path: 'id | gender' }] }] })),
    ]);
    await server.finish().catch(() => {});
    const ended = await client().send('GET', status);
    expect(ended.status).toBe(303);
    for (let i = 0; i < 2; i++)
      expectRefusal(await client().send('GET', below(ended.headers.location)), 422, 'view-invalid', 'column a');
  });

  it('fails where a type in SQL does not hold a value, which the answer does not quote', async () => {
    const column = [{ name: 'a', path: "'2024-03'", tag: [{ name: 'ansi/type', value: 'DATE' }] }];
    const format = { name: '_format', valueCode: 'parquet' };
    const status = await start([subject(view('Patient', { select: [{ column }] })), format]);
    await server.finish().catch(() => {});
    const answer = await client().send('GET', below((await client().send('GET', status)).headers.location));
    expectRefusal(answer, 422, 'view-invalid', 'its type in SQL, DATE,');
    expect(answer.text).toMatch(/Patient\/[^ ]+: the column a has a value that .* \(select\[0\]\.column\[0\]\.path\)/);
    expect(answer.text).not.toContain('2024-03');
  });

  describe('is refused', () => {
    it.each<[string, readonly object[], number, string]>([
      ['without a subject', [{ name: 'header', valueBoolean: false }], 400, 'parameter-invalid'],
      ['with an empty one', [{ name: 'subject', part: [{ name: 'name', valueString: 'x' }] }], 400, 'parameter-invalid'],
      ['with two names alike', [subject(view('Patient')), subject(view('Patient'))], 400, 'parameter-invalid'],
      ['with a name that is none of a file', [subject(view('Patient'), '../x')], 400, 'parameter-invalid'],
      ['as Parameters', [subject(view('Patient')), { name: '_format', valueCode: 'fhir' }], 400, 'parameter-invalid'],
      ['with a limit', [subject(view('Patient')), { name: '_limit', valueInteger: 1 }], 400, 'parameter-unknown'],
      ['of a broken view', [subject({ ...view('Patient'), select: [] })], 422, 'view-invalid'],
    ])('%s', async (_title, parameter, status, code) => expectRefusal(await send(parameter), status, code)); // prettier-ignore

    it('without the header', async () => {
      expectRefusal(await send([subject(view('Patient'))], client(), {}), 400, 'async-only');
    });
  });
}
