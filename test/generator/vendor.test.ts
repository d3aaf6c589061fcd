import { cpSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';

import { tables as ourTables } from '../../generated/tables.js';
import { emitRoutes } from '../../generator/emit/routes.js';
import { emitTables } from '../../generator/emit/tables.js';
import { makeModel } from '../../generator/generate.js';
import { printAll } from '../../generator/print/print.js';
import { projectRoot } from '../../generator/project-root.js';
import type { Tables } from '../../runtime/contract/index.js';
import { openStore } from '../contract/open-store.js';
import { jobsServer } from '../http/jobs/jobs-server.js';
import { mergeParameters, replacementParameters, undoMergeParameters } from '../http/operations/replacement-support.js';
import { PATIENCE } from './command.js';

/** Below the checkout, because what is written there is TypeScript. */
const CACHE = join(projectRoot(), '.cache');
mkdirSync(CACHE, { recursive: true });
const folder = mkdtempSync(join(CACHE, 'vendor-'));
const VENDOR = 'acme';
const store = await openStore('sqlite::memory:');

/** Tables that are made with another vendor in `settings.json`, and nothing else changed. */
async function generateFor(vendor: string): Promise<Tables> {
  const definitions = join(folder, 'definitions');
  cpSync(join(projectRoot(), 'definitions'), definitions, { recursive: true });
  const file = join(definitions, 'settings.json');
  writeFileSync(file, readFileSync(file, 'utf8').replace(/"vendor": "[^"]*"/, `"vendor": "${vendor}"`));
  const model = await makeModel({ definitions });
  for (const [path, text] of printAll([...emitTables(model), emitRoutes(model)], model.package)) {
    mkdirSync(dirname(join(folder, path)), { recursive: true });
    writeFileSync(join(folder, path), text);
  }
  const load = (name: string): Promise<Partial<Tables>> =>
    import(pathToFileURL(join(folder, 'tables', `${name}.table.ts`)).href) as Promise<Partial<Tables>>;
  return { ...ourTables, ...(await load('operations')), ...(await load('routes')), ...(await load('scopes')) };
}

const tables = await generateFor(VENDOR);

afterAll(async () => {
  await store.close();
  rmSync(folder, { recursive: true });
});

describe('another vendor in definitions/settings.json', () => {
  const server = jobsServer(store, { tables });
  const send = (method: string, path: string, body?: unknown, headers: Record<string, string> = {}) =>
    server.all.send(method, path, body, headers);

  beforeAll(async () => {
    for (const id of ['a', 'b']) await send('PUT', `/Patient/${id}`, { resourceType: 'Patient', id });
    await send('PUT', '/Basic/c', { resourceType: 'Basic', id: 'c', code: { text: 'x' }, subject: { reference: 'Patient/a' } }); // prettier-ignore
  }, PATIENCE);

  it('names four operations, in the tables and in /metadata, and no other is lost', async () => {
    const names = tables.operations.filter(({ name }) => name.startsWith(`${VENDOR}.`)).map(({ name }) => name);
    expect(names.sort()).toEqual(
      ['reindex-status', 'replace-references', 'undo-merge', 'undo-replace-references'].map((name) => `${VENDOR}.fhir.${name}`), // prettier-ignore
    );
    const { rest } = (await send('GET', '/metadata')).json();
    const listed = [...rest[0].operation, ...rest[0].resource.flatMap(({ operation = [] }) => operation)];
    const shown = new Set(listed.map(({ name }: { name: string }) => name));
    expect(names.filter((name) => !shown.has(name))).toEqual([]);
    expect([...shown].filter((name) => name.startsWith('svc.'))).toEqual([]);
    const before = new Set(ourTables.operations.map(({ id }) => id));
    expect(tables.operations.filter(({ id }) => !before.has(id))).toEqual([]);
    expect(tables.operations).toHaveLength(ourTables.operations.length);
  });

  it('a reindexing names where to ask for it, and is found there', async () => {
    const url = { name: 'url', valueString: 'Patient?' };
    const started = await send('POST', '/$reindex', { resourceType: 'Parameters', parameter: [url] }, { prefer: 'respond-async' }); // prettier-ignore
    const at = String(started.headers['content-location']);
    expect([started.status, at], started.text).toEqual([
      202,
      expect.stringContaining(`/$${VENDOR}.fhir.reindex-status?`),
    ]);
    await server.finish();
    const ended = await send('GET', at.slice(at.indexOf('/$')));
    expect([ended.status, ended.json().type], ended.text).toEqual([200, 'batch-response']);
    expect(ended.text).toContain(`${VENDOR}.fhir.reindex-status?_jobId=`);
    expect((await send('GET', '/$svc.fhir.reindex-status?_jobId=x')).status).toBe(404);
  });

  it('references are replaced and restored, and a merge is undone', async () => {
    const there = async (): Promise<string> => (await send('GET', '/Basic/c')).json().subject.reference;
    const call = async (path: string, body: object): Promise<number> => (await send('POST', path, body)).status;
    expect(await call(`/$${VENDOR}.fhir.replace-references`, replacementParameters('Patient/a', 'Patient/b'))).toBe(
      200,
    );
    expect(await there()).toBe('Patient/b');
    expect(await call(`/$${VENDOR}.fhir.undo-replace-references`, replacementParameters('Patient/a', 'Patient/b'))).toBe(200); // prettier-ignore
    expect(await there()).toBe('Patient/a');
    const merged = mergeParameters('Patient/a', 'Patient/b', [{ name: 'preview', valueBoolean: false }]);
    expect(await call('/Patient/$merge', merged)).toBe(200);
    expect(await call(`/Patient/$${VENDOR}.fhir.undo-merge`, undoMergeParameters('Patient/a', 'Patient/b'))).toBe(200);
    expect(await there()).toBe('Patient/a');
  });
});
