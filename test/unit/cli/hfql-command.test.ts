import { mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';

import { runProgram } from '../../../runtime/cli/program.js';
import { parseCsv } from '../../../runtime/hfql/parse-csv.js';

const folder = mkdtempSync(join(tmpdir(), 'kiln-hfql-'));
const store = ['--store', `sqlite:${join(folder, 'kiln.db')}`];
afterAll(() => rmSync(folder, { recursive: true }));

async function kiln(...args: readonly string[]) {
  const out: string[] = [];
  const err: string[] = [];
  const code = await runProgram(args, { out: (line) => out.push(line), err: (line) => err.push(line), env: {} });
  return { code, out, err };
}

describe('kiln hfql', () => {
  beforeAll(async () => {
    const resources = Array.from({ length: 1203 }, (_, i) => ({
      resourceType: 'Patient',
      id: `p${i}`,
      gender: i % 3 === 0 ? 'male' : 'female',
      ...(i === 0 && { name: [{ family: 'Comma, "quoted"' }] }),
    }));
    const file = join(folder, 'patients.ndjson');
    writeFileSync(file, resources.map((each) => JSON.stringify(each)).join('\n'));
    expect(await kiln('load', file, ...store)).toMatchObject({ code: 0 });
  });

  it('prints a table', async () => {
    const query = 'select gender, count(*) as n from Patient group by gender order by n';
    const { code, out } = await kiln('hfql', query, ...store);
    expect({ code, out }).toEqual({
      code: 0,
      out: ['gender  n', '------  ---', 'male    401', 'female  802', '2 rows'],
    });
  });

  it('writes all rows to a file, over several answers', async () => {
    const file = join(folder, 'out.csv');
    const { code, out } = await kiln('hfql', 'select id, name[0].family as f from Patient', '--csv', file, ...store);
    expect({ code, out }).toEqual({ code: 0, out: [`1203 rows in ${file}`] });
    const records = [];
    for await (const each of parseCsv([readFileSync(file, 'utf8')] as unknown as AsyncIterable<string>))
      records.push(each);
    expect(records[0]).toEqual(['id', 'f']);
    expect(records).toContainEqual(['p0', 'Comma, "quoted"']);
    expect(new Set(records.map(([id]) => id)).size).toBe(1204);
  });

  it('leaves the file as it was where the statement fails, at once or later', async () => {
    const file = join(folder, 'kept.csv');
    writeFileSync(file, 'before');
    const late = "select iif(id = 'p1202', 'y' | 'z', 'a').single() from Patient";
    for (const [query, text] of Object.entries({
      'select nonsense from Patient': 'nonsense',
      [late]: 'Patient/p1202',
    })) {
      const { code, err } = await kiln('hfql', query, '--csv', file, ...store);
      expect({ code, err }).toEqual({ code: 1, err: [expect.stringContaining(text) as string] });
      expect(readFileSync(file, 'utf8')).toBe('before');
      expect(readdirSync(folder).filter((name) => name.endsWith('.part'))).toEqual([]);
    }
  });

  it('writes CSV to standard output', async () => {
    const query = "select id, name[0].family as f from Patient where id = 'p0'";
    expect(await kiln('hfql', query, '--csv', '-', ...store)).toEqual({
      code: 0,
      out: ['id,f', 'p0,"Comma, ""quoted"""'],
      err: [],
    });
  });

  it('explains how a statement would be run', async () => {
    const query = "select id from Patient where gender = 'male' and name.exists()";
    const { out } = await kiln('hfql', query, '--explain', ...store);
    expect(out).toEqual([
      'search  Patient?gender=male',
      "tests   gender EQUALS 'male', on each resource that the search finds",
      'tests   name.exists(), on each resource that the search finds',
      'column  id STRING',
    ]);
    expect((await kiln('explain-hfql', query, ...store)).out).toEqual(out);
  });

  it('fails where the statement is wrong', async () => {
    const { code, err } = await kiln('hfql', 'select id from Foo', ...store);
    expect({ code, err }).toEqual({ code: 1, err: [expect.stringContaining('no resource type "Foo"') as string] });
    expect(await kiln('hfql', 'select id from Patient', '--token', 'x', ...store)).toMatchObject({ code: 2 });
  });
});
