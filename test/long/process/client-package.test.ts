import { execFileSync } from 'node:child_process';
import { cpSync, mkdirSync, mkdtempSync, readFileSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';

const SCRIPT = new URL('../../../scripts/client-package.mjs', import.meta.url).pathname;
const SOURCE = new URL('../../../packages/client/', import.meta.url).pathname;

/** A page of a browser team: types are checked as strictly as they can be. */
const USE = `
import { FhirClient, type Criteria } from 'kiln-client';
import type { Observation, Patient } from 'kiln-client/types';
const client = new FhirClient({ base: 'http://127.0.0.1:1/fhir' });
export const made: Promise<Patient> = client.create({ resourceType: 'Patient', birthDate: '2000', _birthDate: { id: 'x' } });
export const criteria: Criteria<'Patient'> = { 'family:exact': 'x', _count: 5 };
export const change = (read: Observation) => client.update({ ...read, valueString: 'x' });
// @ts-expect-error No such property.
void client.create({ resourceType: 'Patient', nmae: [] });
// @ts-expect-error Two values.
void client.create({ resourceType: 'Observation', status: 'final', code: {}, valueString: 'x', valueBoolean: true });
// @ts-expect-error No such modifier.
void client.search('Patient', { 'family:exat': 'x' });
`;

describe('the package of the client', () => {
  const folder = mkdtempSync(join(tmpdir(), 'kiln-client-package-'));
  afterAll(() => rmSync(folder, { recursive: true, force: true }));
  const installed = join(folder, 'node_modules', 'kiln-client');

  beforeAll(() => {
    mkdirSync(installed, { recursive: true });
    for (const name of ['package.json', 'README.md']) cpSync(join(SOURCE, name), join(installed, name));
    execFileSync(process.execPath, [SCRIPT, join(installed, 'dist')]);
  });

  it('is below 70 kB with its types, and needs nothing but jose', () => {
    const [{ size }] = JSON.parse(
      execFileSync('npm', ['pack', '--dry-run', '--json'], { cwd: installed, encoding: 'utf8' }),
    ) as [{ size: number }];
    expect(size).toBeGreaterThan(30_000);
    expect(size).toBeLessThan(70_000);
    const { dependencies, version } = JSON.parse(readFileSync(join(installed, 'package.json'), 'utf8')) as {
      dependencies: object;
      version: string;
    };
    expect(Object.keys(dependencies)).toEqual(['jose']);
    const own = JSON.parse(readFileSync(new URL('../../../package.json', import.meta.url), 'utf8')) as {
      version: string;
    };
    expect(version).toBe(own.version);
  });

  it('has types for which neither @types/node nor skipLibCheck is needed', () => {
    writeFileSync(join(folder, 'use.ts'), USE);
    const options = { target: 'es2023', module: 'nodenext', strict: true, exactOptionalPropertyTypes: true };
    const compilerOptions = { ...options, lib: ['es2023', 'dom', 'dom.asynciterable'], types: [], noEmit: true };
    writeFileSync(join(folder, 'package.json'), '{ "type": "module" }');
    writeFileSync(join(folder, 'tsconfig.json'), JSON.stringify({ compilerOptions, files: ['use.ts'] }));
    symlinkSync(join(SOURCE, '../../node_modules/jose'), join(folder, 'node_modules', 'jose'));
    const tsc = createRequire(import.meta.url).resolve('typescript/bin/tsc');
    let faults = '';
    try {
      execFileSync(process.execPath, [tsc, '-p', folder], { encoding: 'utf8' });
    } catch (error) {
      faults = (error as { stdout: string }).stdout;
    }
    expect(faults).toBe('');
  });

  it('runs', () => {
    const script = "import { FhirClient, referenceTo } from 'kiln-client'; console.log(typeof FhirClient, referenceTo({ resourceType: 'Patient', id: '1' }).reference)"; // prettier-ignore
    const said = execFileSync(process.execPath, ['--input-type=module', '-e', script], {
      cwd: folder,
      encoding: 'utf8',
    });
    expect(said).toBe('function Patient/1\n');
  });
});
