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
    const observation = (id: string, reference: string) =>
      JSON.stringify({ resourceType: 'Observation', id, status: 'final', code: { text: 'x' }, subject: { reference } });
    lines.push(observation('o', 'Patient/p1'), observation('absolute', 'http://localhost:8080/fhir/Patient/p9'));
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
    expect(out).toMatch(/\norder {7}-birthdate, _id\npage {8}5, total cheap\nruns {8}(?:SELECT|WITH) /);
    expect(out).toMatch(
      /\nsource {6}\S.* \(collected and sorted\)\nfilters {5}\S.*\nestimated {3}\d+ rows\nseen {8}\d+ rows for 5 returned$/,
    );
    expect(out).toMatch(/\nindexes {5}\S/);
  });

  it('shows what hierarchies lead to', async () => {
    const below = await kiln('explain-search', 'Encounter?location:below=house', '--store', store);
    const to = (id: string): string => `-> Location {"id":"${id}"}`;
    expect(below.out).toContain(`\nwhere       location (${to('house')} or ${to('floor')} or ${to('room')})\n`);
    const above = await kiln('explain-search', 'Encounter?location:above=room&status=x', '--store', store);
    expect(above.out).toContain(`(location (${to('room')} or ${to('floor')} or ${to('house')})) and (status = "x")`);
  });

  it('shows searches of what is contained: those of each type that may contain it, and has resources', async () => {
    const { code, out } = await kiln('explain-search', 'Patient?name=love1&_contained=true', '--store', store);
    expect(code).toBe(0);
    expect(out.match(/^type .*$/gm)?.map((line) => line.split(/ +/)[1])).toEqual([
      'Location',
      'Observation',
      'Patient',
    ]);
    const contained = 'Patient?name=love1&_contained=both&_containedType=contained';
    const both = await kiln('explain-search', contained, '--store', store);
    expect(both.out.match(/^type .*$/gm)?.map((line) => line.split(/ +/)[1])).toEqual(['Patient', '#Patient']);
  });

  it('shows chains, reverse chains, and what comes with the page', async () => {
    const chain = await kiln(
      'explain-search',
      'Observation?subject:Patient.name=love1&_include=Observation:*',
      '--store',
      store,
    );
    expect([chain.code, chain.err]).toEqual([0, '']);
    expect(chain.out).toMatch(/\nwhere {7}.*subject.*Patient.*name begins "love1"/);
    expect(chain.out).toMatch(/\nincludes {4}Observation\.\S*\bsubject\b\S* -> any\n/);
    const query = '_has:Observation:patient:status=final&_revinclude:iterate=Observation:subject:Patient';
    const has = await kiln('explain-search', `Patient?${query}`, '--store', store);
    expect([has.code, has.err]).toEqual([0, '']);
    expect(has.out).toMatch(/\nwhere {7}.*patient of Observation/);
    expect(has.out).toContain('\nincludes    Patient <- Observation.subject, again and again\n');
    expect(has.out).toMatch(/ for 2 returned$/);
    const graph = await kiln('explain-search', 'Patient?_graph=record', '--store', store);
    expect([graph.code, graph.err]).toEqual([0, '']);
    expect(graph.out).toContain('\ngraph       record: followed from the page, by searches of its own\n');
  });

  it.each([
    ['http://127.0.0.1:8080/fhir/', 'love9', 1],
    ['', 'love9', 1],
    ['', 'love8', 0],
  ])('follows absolute references to the server of the store: %j, %j: %i', async (base, name, returned) => {
    const { code, out } = await kiln(
      'explain-search',
      `${base}Observation?subject:Patient.name=${name}`,
      '--store',
      store,
    );
    expect(code).toBe(0);
    expect(out).toMatch(new RegExp(` for ${returned} returned$`));
  });

  it('shows compartments, and of several types each that has resources', async () => {
    const one = await kiln('explain-search', '/fhir/Patient/p1/Observation?status=final', '--store', store);
    expect([one.code, one.err]).toEqual([0, '']);
    expect(one.out).toMatch(/^type {8}Observation\nwhere {7}.*status = "final".*subject .*-> Patient \{"id":"p1"\}/);
    const all = await kiln('explain-search', 'Patient/p1/*', '--store', store);
    expect(all.out.match(/^type {8}\S+$/gm)).toEqual(['type        Observation', 'type        Patient']);
    const named = await kiln('explain-search', '?_type=Patient,Location,Claim&_id=p1', '--store', store);
    expect([named.code, named.err]).toEqual([0, '']);
    expect(named.out.match(/^type {8}\S+$/gm)).toEqual(['type        Location', 'type        Patient']);
    const none = await kiln('explain-search', 'http://127.0.0.1/fhir/_search?_type=Claim', '--store', store);
    expect([none.code, none.out]).toEqual([0, 'none of the types that are searched has any resources']);
  });

  it.each([
    ['Patient?nmae=x', 1, 'Unknown parameter "nmae"'],
    ['Patent?name=x', 1, 'there is no resource type "Patent"'],
    ['?name=x', 1, 'The parameter "name" is none that all types have'],
    ['', 2, 'has to begin with a type, a compartment or a query'],
    ['Patient/p1', 2, 'has to begin with a type, a compartment or a query'],
    ['/fhir/Patient/p1?name=x', 2, 'has to begin with a type, a compartment or a query'],
    ['Patient/p1/Medication', 1, 'There is no Medication in the compartment of Patient'],
    ['Location/house/Observation', 1, 'There is no compartment of Location'],
  ])('%s: exit %i, %s', async (search, code, message) => {
    const run = await kiln('explain-search', search, '--store', store);
    expect([run.code, run.out]).toEqual([code, '']);
    expect(run.err).toContain(message);
  });

  it('--html: draws it as a page that loads nothing and runs nothing', async () => {
    const search = 'Patient?name=<b>love1&birthdate=1815';
    const { code, out, err } = await kiln('explain-search', search, '--html', '--store', store);
    expect([code, err]).toEqual([0, '']);
    expect(out).toMatch(/^<!doctype html>/);
    expect(out).toContain('<code>Patient?name&#x3D;&lt;b&gt;love1&amp;birthdate&#x3D;1815</code>');
    expect(out).toMatch(/<li class="step"><h3>Examines \d+ index entries and rows<\/h3>/);
    expect(out).toMatch(/<span class="badge">\w+<\/span>/);
    expect(out).not.toMatch(/<script|<link|<img|\ssrc=|\shref=|@import|url\(/);
    expect(out).toContain("default-src 'none'");
  });

  it('makes no store where there is none', async () => {
    const run = await kiln('explain-search', 'Patient', '--store', `sqlite:${join(folder, 'none.db')}`);
    expect([run.code, run.err]).toEqual([1, expect.stringContaining('there is no store at') as string]);
  });
});
