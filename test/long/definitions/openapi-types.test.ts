import { spawn, spawnSync } from 'node:child_process';
import { mkdirSync, mkdtempSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';

import { tables } from '../../../generated/tables.js';
import { createApp } from '../../../runtime/http/app.js';
import { listen } from '../../../runtime/http/listen.js';
import { extract } from '../../bench/data/load-clinic.js';
import { openStore } from '../../contract/open-store.js';
import { buildDist } from '../../workers/build-dist.js';

const ROOT = fileURLToPath(new URL('../../../', import.meta.url));
const MODULES = join(ROOT, 'node_modules');

const USE = (from: string): string => `
import type { components, operations, paths } from '${from}';
type Patient = components['schemas']['Patient'];
export const patient: Patient = { resourceType: 'Patient', birthDate: '1815-12-10', name: [{ family: 'Lovelace' }] };
// @ts-expect-error Another type.
export const wrong: Patient = { resourceType: 'Observation' };
export const query: operations['Patient.search-type']['parameters']['query'] = { family: ['x'], _count: 5 };
export type Read = paths['/Patient/{id}']['get'];
export type Answer = operations['Patient.read']['responses'][200]['content']['application/fhir+json'];
export const answer: Answer = patient;
`;

describe('types that openapi-typescript makes', () => {
  const folder = mkdtempSync(join(tmpdir(), 'kiln-openapi-'));
  let url = '';
  let close = (): Promise<void> => Promise.resolve();
  beforeAll(async () => {
    await buildDist();
    const store = await openStore('sqlite::memory:');
    const server = await listen(createApp({ tables, store, extract }), '127.0.0.1', 0);
    url = server.url;
    close = async () => {
      await server.close(0);
      await store.close();
    };
    writeFileSync(join(folder, 'package.json'), '{"type":"module"}');
    mkdirSync(join(folder, 'node_modules'));
    symlinkSync(ROOT, join(folder, 'node_modules', 'kiln'));
  });
  afterAll(async () => {
    await close();
    rmSync(folder, { recursive: true });
  });

  const run = (script: string, ...args: string[]): Promise<string> =>
    new Promise((resolve) => {
      const child = spawn(process.execPath, [join(MODULES, script), ...args], { cwd: folder });
      let output = '';
      for (const stream of [child.stdout, child.stderr]) stream.on('data', (text) => (output += String(text)));
      child.once('close', (code) => resolve(code === 0 ? '' : `exit ${code}: ${output}`));
    });
  const check = (file: string): string => {
    const options = ['--noEmit', '--strict', '--module', 'NodeNext', '--target', 'ES2023', '--extendedDiagnostics'];
    const command = [join(MODULES, 'typescript/bin/tsc'), ...options, file];
    const { status, stdout } = spawnSync(process.execPath, command, { cwd: folder, encoding: 'utf8' });
    const memory = /Memory used: +(\d+)K/.exec(stdout)?.[1];
    const time = /Total time: +(\S+)/.exec(stdout)?.[1];
    process.stderr.write(`tsc on ${file}: ${time}, ${Math.round(Number(memory) / 1024)} MB\n`);
    return status === 0 ? '' : stdout;
  };

  it('of a document of one type, as it is served, compile', async () => {
    expect(await run('openapi-typescript/bin/cli.js', `${url}/openapi/Patient.json`, '-o', 'patient.d.ts')).toBe('');
    writeFileSync(join(folder, 'use-patient.ts'), USE('./patient.js'));
    expect(check('use-patient.ts')).toBe('');
  });

  it('of all documents compile: kiln/openapi', () => {
    writeFileSync(join(folder, 'use-all.ts'), USE('kiln/openapi'));
    expect(check('use-all.ts')).toBe('');
  });
});
