import { spawn } from 'node:child_process';
import { cpSync, mkdtempSync, readFileSync, rmSync, symlinkSync } from 'node:fs';
import { createServer } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest';

import type { StructureDefinition } from '../../../generator/load/fhir-json.js';
import { changeJson, forgetUnpacked, pack } from '../../generator/tarball.js';
import { ENVIRONMENT } from '../../service/environment.js';
import { buildDist } from '../../workers/build-dist.js';

const ROOT = fileURLToPath(new URL('../../../', import.meta.url));
const COPIED = ['package.json', 'package-lock.json', 'tsconfig.json', 'tsconfig.build.json', 'definitions', 'docs', 'generated', 'generator', 'runtime', 'scripts', 'dist']; // prettier-ignore
const LINKED = ['node_modules', 'test'];
const CORE = 'hl7.fhir.r5.core';
const JSON_TYPE = { 'content-type': 'application/fhir+json' };

interface Ended {
  readonly code: number | null;
  readonly text: string;
}

describe('kiln generate --package, and a build', () => {
  const folder = mkdtempSync(join(tmpdir(), 'kiln-package-'));
  let file = '';
  const stops: (() => Promise<unknown>)[] = [];

  beforeAll(async () => {
    await buildDist();
    for (const name of COPIED) {
      cpSync(join(ROOT, name), join(folder, name), { recursive: true, preserveTimestamps: true });
    }
    for (const name of LINKED) symlinkSync(join(ROOT, name), join(folder, name));
    const dir = join(folder, 'tarball');
    cpSync(join(ROOT, 'node_modules', CORE), join(dir, 'package'), { recursive: true });
    changeJson<StructureDefinition>(join(dir, 'package', 'StructureDefinition-Patient.json'), (patient) => {
      const element = patient.snapshot.element.map((each) => (each.path === 'Patient.gender' ? { ...each, min: 1 } : each)); // prettier-ignore
      return { ...patient, snapshot: { element } };
    });
    file = pack(dir);
  });
  afterEach(async () => {
    for (const stop of stops.splice(0)) await stop();
  });
  afterAll(() => {
    forgetUnpacked(file);
    rmSync(folder, { recursive: true });
  });

  const run = (...args: string[]): Promise<Ended> =>
    new Promise((resolve) => {
      const child = spawn(process.execPath, args, { cwd: folder, env: ENVIRONMENT });
      let text = '';
      for (const stream of [child.stdout, child.stderr]) stream.on('data', (chunk) => (text += String(chunk)));
      child.once('close', (code) => resolve({ code, text }));
    });
  const serve = async (): Promise<string> => {
    const port = await freePort();
    const options = ['serve', '--auth', 'open', '--store', 'sqlite::memory:', '--port', String(port)];
    const child = spawn(process.execPath, ['dist/runtime/cli/main.js', ...options], { cwd: folder, env: ENVIRONMENT });
    stops.push(() => new Promise((resolve) => (child.once('close', resolve), child.kill('SIGTERM'))));
    const base = `http://127.0.0.1:${port}/fhir`;
    await expect.poll(() => fetch(`${base}/metadata`).then(({ status }) => status, () => 0), { timeout: 120_000, interval: 200 }).toBe(200); // prettier-ignore
    return base;
  };

  it('enforce and show the same Patient: that of the package', async () => {
    const generated = await run('dist/runtime/cli/main.js', 'generate', '--package', file);
    expect(generated.code, generated.text).toBe(0);
    const built = await run('scripts/build.mjs');
    expect(built.code, built.text).toBe(0);
    const base = await serve();
    const post = (body: object): Promise<number> =>
      fetch(`${base}/Patient`, { method: 'POST', headers: JSON_TYPE, body: JSON.stringify(body) }).then(({ status }) => status); // prettier-ignore
    expect(await post({ resourceType: 'Patient' })).toBe(400);
    expect(await post({ resourceType: 'Patient', gender: 'other' })).toBe(201);
    const shown = (await (await fetch(`${base}/StructureDefinition/Patient`)).json()) as StructureDefinition;
    expect(shown.snapshot.element.find(({ path }) => path === 'Patient.gender')?.min).toBe(1);
    const page = readFileSync(join(folder, 'dist/generated/docs/patient.html'), 'utf8');
    expect(/gender[^]{0,400}?1\.\.1/.test(page)).toBe(true);
  });

  it('a build is refused where the package is no longer there, and says what to do', async () => {
    forgetUnpacked(file);
    const built = await run('scripts/build.mjs');
    expect(built.code).toBe(1);
    expect(built.text).toContain(`generated/ was made from ${CORE}@5.0.0, whose files are no longer here`);
    expect(built.text).toMatch(/node_modules\/hl7\.fhir\.r5\.core has other files: not those with sha256 [0-9a-f]{64}/);
    expect(built.text).toContain('To mend: npm run generate');
    // What it names does mend it: the package of the definitions.
    const generated = await run('dist/runtime/cli/main.js', 'generate');
    expect(generated.code, generated.text).toBe(0);
    const manifest = (dir: string): string => readFileSync(join(dir, 'generated', 'manifest.json'), 'utf8');
    expect(manifest(folder)).toBe(manifest(ROOT));
    expect((await run('scripts/build.mjs')).code).toBe(0);
  });
});

/** A port that was free a moment ago. */
function freePort(): Promise<number> {
  return new Promise((resolve) => {
    const server = createServer().listen(0, '127.0.0.1', () => {
      const address = server.address();
      server.close(() => resolve(typeof address === 'object' ? (address?.port ?? 0) : 0));
    });
  });
}
