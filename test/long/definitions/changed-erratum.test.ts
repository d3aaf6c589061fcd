import { cpSync, mkdtempSync, readFileSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { setTimeout as sleep } from 'node:timers/promises';
import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest';

import { describeOnMongod, newDatabase } from '../../mongod/for-tests.js';
import { startKiln, type KilnProcess } from '../../service/kiln-process.js';
import { bundleEntries } from '../../workers/bundle.js';

const ROOT = fileURLToPath(new URL('../../..', import.meta.url));
/** What a copy of the project needs to generate and to serve. */
const COPIED = ['package.json', 'definitions', 'generator', 'runtime'];
const LINKED = ['node_modules', 'test'];
/** Published without an expression; an erratum says that it is the dose form. */
const PARAMETER = 'http://hl7.org/fhir/SearchParameter/Medication-form';
const TOLD = 'Index entries of Medication.form were made by other definitions';
const JSON_TYPE = { 'content-type': 'application/fhir+json' };

interface Erratum {
  readonly target: string;
  readonly now?: string;
}

interface Bundle {
  readonly total?: number;
  readonly entry?: readonly {
    readonly search: { readonly mode: string };
    readonly resource: { readonly id?: string };
  }[];
}

let folder: string;
let server: KilnProcess | undefined;

async function run(args: readonly string[]): Promise<{ code: number | null; out: string; err: string }> {
  const command = startKiln(args, { copy: folder });
  command.started.catch(() => {});
  return { code: await command.ended, ...command.output };
}

async function serve(store: string, from?: { readonly copy: string }): Promise<string> {
  server = startKiln(['serve', '--port', '0', '--validation', 'structure', '--store', store], from);
  return server.started;
}

async function stop(): Promise<void> {
  server!.child.kill('SIGTERM');
  expect(await server!.ended).toBe(0);
}

async function create(base: string, id: string, code: string, doseForm: string): Promise<void> {
  const body = JSON.stringify({
    resourceType: 'Medication',
    id,
    code: { coding: [{ code }] },
    doseForm: { coding: [{ code: doseForm }] },
  });
  const { status } = await fetch(`${base}/Medication/${id}`, { method: 'PUT', body, headers: JSON_TYPE });
  expect(status).toBe(201);
}

/** Ids of what is found, and what the search is warned of. */
async function search(base: string, query: string): Promise<{ found: (string | undefined)[]; warning: string }> {
  const { entry = [] } = (await (await fetch(`${base}/${query}`)).json()) as Bundle;
  const of = (mode: string) => entry.filter((each) => each.search.mode === mode).map(({ resource }) => resource);
  return { found: of('match').map(({ id }) => id), warning: JSON.stringify(of('outcome')) };
}

/** What the server says of itself. */
async function told(base: string): Promise<{ ready: unknown; documentation: string | undefined }> {
  const metadata = (await (await fetch(`${base}/metadata`)).json()) as { rest: { documentation?: string }[] };
  const ready: unknown = await (await fetch(new URL('/health/ready', base))).json();
  return { ready, documentation: metadata.rest[0]?.documentation };
}

beforeAll(async () => {
  folder = mkdtempSync(join(tmpdir(), 'kiln-erratum-'));
  for (const name of COPIED) cpSync(join(ROOT, name), join(folder, name), { recursive: true });
  for (const name of LINKED) symlinkSync(join(ROOT, name), join(folder, name));
  const file = join(folder, 'definitions', 'errata.json');
  const { errata, ...rest } = JSON.parse(readFileSync(file, 'utf8')) as { errata: readonly Erratum[] };
  expect(errata.find(({ target }) => target === PARAMETER)?.now).toBe('Medication.doseForm');
  // Not the path of `code`: then it would be found by that, and be right at once.
  const changed = errata.map((each) => (each.target === PARAMETER ? { ...each, now: 'Medication.code.coding' } : each));
  writeFileSync(file, JSON.stringify({ ...rest, errata: changed }));
  const generated = await run(['generate']);
  expect(generated, generated.err).toMatchObject({ code: 0 });
  await bundleEntries(folder);
});
afterAll(() => rmSync(folder, { recursive: true }));
afterEach(async () => {
  server?.child.kill('SIGKILL');
  await server?.ended;
});

function changesTheErratum(newStore: () => string): void {
  it('no search returns a wrong set without a warning; kiln reindex ends that', async () => {
    const store = newStore();
    const before = await serve(store);
    await create(before, 'a', 'aspirin', 'tablet');
    await create(before, 'b', 'tablet', 'drops');
    expect(await search(before, 'Medication?form=tablet')).toEqual({ found: ['a'], warning: '[]' });
    expect(await told(before)).toEqual({ ready: { status: 'ok' }, documentation: undefined });
    await stop();

    const after = await serve(store, { copy: folder });
    expect(server!.output.err).toContain(TOLD);
    const warns = expect.stringContaining(TOLD) as string;
    // By the new definition it is `b`.
    expect(await search(after, 'Medication?form=tablet')).toEqual({ found: ['a'], warning: warns });
    expect(await search(after, 'Medication?form=aspirin')).toEqual({ found: [], warning: warns });
    expect(await search(after, 'Medication?form:not=tablet')).toEqual({ found: ['b'], warning: warns });
    expect(await search(after, 'Medication?_sort=form')).toEqual({ found: ['b', 'a'], warning: warns });
    // What is written now is found by what holds now, and the rest is told of still.
    await create(after, 'c', 'tablet', 'cream');
    expect(await search(after, 'Medication?form=tablet')).toEqual({ found: ['a', 'c'], warning: warns });
    // Whoever does not ask by it is right, and not warned.
    expect(await search(after, 'Medication?code=tablet')).toEqual({ found: ['b', 'c'], warning: '[]' });
    expect(await told(after)).toEqual({ ready: { status: 'ok', detail: warns }, documentation: warns });

    const reindexed = await run(['reindex', '--store', store]);
    expect(reindexed, reindexed.err).toMatchObject({ code: 0, out: expect.stringMatching(/^3 resources/) as string });
    // The server looks every two seconds.
    await sleep(2500);
    expect(await search(after, 'Medication?form=tablet')).toEqual({ found: ['b', 'c'], warning: '[]' });
    expect(await search(after, 'Medication?form=aspirin')).toEqual({ found: ['a'], warning: '[]' });
    expect(await search(after, 'Medication?form:not=tablet')).toEqual({ found: ['a'], warning: '[]' });
    expect(await told(after)).toEqual({ ready: { status: 'ok' }, documentation: undefined });
    await stop();
  });
}

describe('an erratum changes what a parameter is about, and the store stays', () => {
  describe('on SQLite', () => changesTheErratum(() => `sqlite:${join(folder, 'kiln.db')}`));
  describeOnMongod('on MongoDB', () => changesTheErratum(newDatabase));
});
