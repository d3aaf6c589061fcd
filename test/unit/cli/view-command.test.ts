import { mkdtempSync, readdirSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';

import { tables } from '../../../generated/tables.js';
import { runProgram } from '../../../runtime/cli/program.js';
import { createApp } from '../../../runtime/http/app.js';
import { listen } from '../../../runtime/http/listen.js';
import { createExtractor } from '../../../runtime/indexing/extract.js';
import { openSqliteStore } from '../../../runtime/store/sqlite/sqlite-store.js';
import { library } from '../../http/operations/query/library.js';

const folder = mkdtempSync(join(tmpdir(), 'kiln-view-'));
const database = `sqlite:${join(folder, 'kiln.db')}`;
const store = ['--store', database];
afterAll(() => rmSync(folder, { recursive: true }));

async function kiln(...args: readonly string[]) {
  const out: string[] = [];
  const err: string[] = [];
  const code = await runProgram(args, { out: (line) => out.push(line), err: (line) => err.push(line), env: {} });
  return { code, out, err };
}

function viewFile(name: string, ...columns: readonly object[]): string {
  const file = join(folder, name);
  const view = { resourceType: 'ViewDefinition', status: 'active', resource: 'Patient', select: [{ column: columns }] };
  writeFileSync(file, JSON.stringify(view));
  return file;
}

describe('kiln view run', () => {
  let view = '';

  beforeAll(async () => {
    const resources = [
      { resourceType: 'Patient', id: 'a', gender: 'male', name: [{ family: 'Comma, "quoted"' }] },
      { resourceType: 'Patient', id: 'b', gender: 'female' },
    ];
    const file = join(folder, 'patients.ndjson');
    writeFileSync(file, resources.map((each) => JSON.stringify(each)).join('\n'));
    expect(await kiln('load', file, ...store)).toMatchObject({ code: 0 });
    view = viewFile(
      'view.json',
      { name: 'id', path: 'getResourceKey()' },
      { name: 'family', path: 'name.family.first()' },
    );
  });

  it('prints a table', async () => {
    expect(await kiln('view', 'run', view, ...store)).toEqual({
      code: 0,
      out: ['id  family', '--  ---------------', 'a   Comma, "quoted"', 'b', '2 rows'],
      err: [],
    });
    expect((await kiln('view', 'run', view, '--limit', '1', ...store)).out).toHaveLength(4);
  });

  it.each([
    ['csv', 'id,family\na,"Comma, ""quoted"""\nb,\n'],
    ['json', '[{"id":"a","family":"Comma, \\"quoted\\""},\n{"id":"b","family":null}]'],
    ['ndjson', '{"id":"a","family":"Comma, \\"quoted\\""}\n{"id":"b","family":null}\n'],
  ])('writes %s to a file, and to standard output', async (format, text) => {
    const file = join(folder, `out.${format}`);
    expect(await kiln('view', 'run', view, `--${format}`, file, ...store)).toMatchObject({ code: 0 });
    expect(readFileSync(file, 'utf8')).toBe(text);
    // It tells of patients.
    if (process.platform !== 'win32') expect(statSync(file).mode & 0o777).toBe(0o600);
    const { out } = await kiln('view', 'run', view, `--${format}`, '-', ...store);
    expect(out.join('\n')).toBe(text.trimEnd());
  });

  it('writes parquet to a file alone', async () => {
    const file = join(folder, 'out.parquet');
    expect(await kiln('view', 'run', view, '--parquet', file, ...store)).toMatchObject({ code: 0 });
    expect(readFileSync(file).subarray(0, 4).toString()).toBe('PAR1');
    expect(await kiln('view', 'run', view, '--parquet', '-', ...store)).toMatchObject({ code: 2 });
  });

  it('asks a server', async () => {
    const served = openSqliteStore(database);
    const server = await listen(createApp({ tables, store: served, extract: createExtractor(tables) }), '127.0.0.1', 0);
    try {
      const url = `${server.url}/fhir`;
      expect((await kiln('view', 'run', view, '--csv', '-', '--url', url)).out).toEqual(
        (await kiln('view', 'run', view, '--csv', '-', ...store)).out,
      );
      const wrong = viewFile('wrong.json', { name: 'x', path: 'nonsense(' });
      const { code, err } = await kiln('view', 'run', wrong, '--url', url);
      expect({ code, err }).toEqual({
        code: 1,
        err: [expect.stringContaining('select[0].column[0].path') as string],
      });
    } finally {
      await server.close(0);
      await served.close();
    }
  });

  it('runs a query with the values of a file with Parameters, and says which are NULL', async () => {
    const write = (name: string, resource: object): string => {
      writeFileSync(join(folder, name), JSON.stringify(resource));
      return join(folder, name);
    };
    const query = library('SELECT :n + 1 AS m', {}, { parameter: [{ name: 'n', use: 'in', type: 'integer' }] });
    const values = { resourceType: 'Parameters', parameter: [{ name: 'n', valueInteger: 6 }] };
    const parameter = [{ name: '_format', valueCode: 'parquet' }, { name: 'subjectResource', resource: query }, { name: 'parameters', resource: values }]; // prettier-ignore
    const file = write('run.json', { resourceType: 'Parameters', parameter });
    expect(await kiln('view', 'run', file, '--csv', '-', ...store)).toEqual({ code: 0, out: ['m', '7'], err: [] });
    expect(await kiln('view', 'run', write('query.json', query), '--json', '-', ...store)).toEqual({
      ...{ code: 0, out: ['[{"m":null}]'] },
      err: [expect.stringMatching(/^:n: NULL/) as string],
    });
    expect((await kiln('view', 'run', '--help')).out.join(' ')).toMatch(/Library/);
  });

  it('leaves the file as it was where the view fails', async () => {
    const file = join(folder, 'kept.csv');
    writeFileSync(file, 'before');
    const wrong = viewFile('several.json', { name: 'x', path: "id | 'y'" });
    const { code, err } = await kiln('view', 'run', wrong, '--csv', file, ...store);
    expect({ code, err }).toEqual({ code: 1, err: [expect.stringContaining('Patient/a') as string] });
    expect(readFileSync(file, 'utf8')).toBe('before');
    expect(readdirSync(folder).filter((name) => name.endsWith('.part'))).toEqual([]);
  });

  it('refuses to be called wrongly', async () => {
    for (const args of [
      [join(folder, 'none.json')],
      [view, '--csv', '-', '--json', '-'],
      [view, '--limit', '-1'],
      [view, '--token', 'x'],
    ]) {
      expect(await kiln('view', 'run', ...args, ...store)).toMatchObject({ code: 2 });
    }
  });
});
