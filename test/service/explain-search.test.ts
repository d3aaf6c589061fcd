import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';

import { runProgram } from '../../runtime/cli/program.js';

const folder = mkdtempSync(join(tmpdir(), 'kiln-explain-'));
const store = `sqlite:${join(folder, 'kiln.db')}`;
afterAll(() => rmSync(folder, { recursive: true }));

async function kiln(...args: string[]) {
  const out: string[] = [];
  const err: string[] = [];
  const code = await runProgram(args, { out: (line) => out.push(line), err: (line) => err.push(line), env: {} });
  return { code, out: out.join('\n'), err: err.join('\n') };
}

describe('kiln explain-search', () => {
  beforeAll(async () => {
    const lines = Array.from({ length: 30 }, (_, n) =>
      JSON.stringify({ resourceType: 'Patient', id: `p${n}`, name: [{ family: `Love${n}` }], birthDate: '1815-12-10' }),
    );
    const location = (id: string, partOf: string) =>
      JSON.stringify({ resourceType: 'Location', id, partOf: { reference: `Location/${partOf}` } });
    lines.push(location('floor', 'house'), location('room', 'floor'));
    writeFileSync(join(folder, 'patients.ndjson'), lines.join('\n'));
    expect((await kiln('load', join(folder, 'patients.ndjson'), '--store', store)).code).toBe(0);
  }, 60_000);

  it.each([
    'Patient?name=love1&_sort=-birthdate&_count=5&birthdate=1815',
    '/fhir/Patient?name=love1&_sort=-birthdate&_count=5&birthdate=1815',
    'http://127.0.0.1:8080/fhir/Patient/_search?name=love1&_sort=-birthdate&_count=5&birthdate=1815',
  ])('%s: condition, order, what runs, what was counted, what it costs', async (search) => {
    const { code, out, err } = await kiln('explain-search', search, '--store', store);
    expect([code, err]).toEqual([0, '']);
    expect(out).toContain('type        Patient\nwhere       (name begins "love1") and (birthdate low >= 1815-01-01T');
    expect(out).toContain('\norder       -birthdate, _id\npage        5, total cheap\nruns        SELECT ');
    expect(out).toMatch(/\nbegins with \S/);
    expect(out).toMatch(/\nindexes {5}\S/);
    expect(out).toMatch(/\nexamined {4}\d+ for 5 returned$/);
  });

  it('shows what hierarchies lead to', async () => {
    const below = await kiln('explain-search', 'Encounter?location:below=house', '--store', store);
    const to = (id: string): string => `-> Location {"id":"${id}"}`;
    expect(below.out).toContain(`\nwhere       location (${to('house')} or ${to('floor')} or ${to('room')})\n`);
    const above = await kiln('explain-search', 'Encounter?location:above=room&status=x', '--store', store);
    expect(above.out).toContain(`(location (${to('room')} or ${to('floor')} or ${to('house')})) and (status = "x")`);
  });

  it.each([
    ['Patient?nmae=x', 1, 'Unknown parameter "nmae"'],
    ['Patent?name=x', 1, 'there is no resource type "Patent"'],
    ['?name=x', 2, 'has to begin with a type'],
  ])('%s: exit %i, %s', async (search, code, message) => {
    const run = await kiln('explain-search', search, '--store', store);
    expect([run.code, run.out]).toEqual([code, '']);
    expect(run.err).toContain(message);
  });

  it('makes no store where there is none', async () => {
    const run = await kiln('explain-search', 'Patient', '--store', `sqlite:${join(folder, 'none.db')}`);
    expect([run.code, run.err]).toEqual([1, expect.stringContaining('there is no store at') as string]);
  });
});
