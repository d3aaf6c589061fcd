import { cpSync, mkdirSync, readdirSync, readFileSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, beforeEach, describe, expect, it, vi } from 'vitest';

import { acceptPackage } from '../../generator/accept.js';
import { runGenerate } from '../../generator/cli.js';
import { findInput } from '../../generator/load/find-package.js';
import { digestPackage } from '../../generator/load/package-digest.js';
import type * as ProjectRoot from '../../generator/project-root.js';
import { PATIENCE, temporaryFolders } from './command.js';
import { writeToyPackage } from './tarball.js';

const CORE = 'hl7.fhir.r5.core';
const EXPANSIONS = 'hl7.fhir.r5.expansions';
/** A value set that no required binding names, so that no table has its codes. */
const UNBOUND = 'ValueSet-observation-codes.json';

// A checkout whose package can be changed.
const made = vi.hoisted(() => ({ root: '' }));
vi.mock('../../generator/project-root.js', async (original) => {
  const real = await original<typeof ProjectRoot>();
  return { projectRoot: () => made.root || real.projectRoot() };
});

const newFolder = temporaryFolders();
let root = '';
let out = '';
let err = '';

beforeAll(async () => {
  const { projectRoot } = await vi.importActual<typeof ProjectRoot>('../../generator/project-root.js');
  const checkout = projectRoot();
  root = newFolder('accept');
  cpSync(join(checkout, 'definitions'), join(root, 'definitions'), { recursive: true });
  for (const name of ['generated', 'generator']) symlinkSync(join(checkout, name), join(root, name));
  mkdirSync(join(root, 'node_modules', CORE), { recursive: true });
  symlinkSync(join(checkout, 'node_modules', EXPANSIONS), join(root, 'node_modules', EXPANSIONS));
  const core = join(checkout, 'node_modules', CORE);
  for (const name of readdirSync(core).filter((each) => each.endsWith('.json'))) {
    symlinkSync(join(core, name), join(root, 'node_modules', CORE, name));
  }
  made.root = root;
}, PATIENCE);
afterAll(() => {
  made.root = '';
  vi.restoreAllMocks();
});
beforeEach(() => {
  out = err = '';
  vi.spyOn(process.stdout, 'write').mockImplementation((text) => ((out += String(text)), true));
  vi.spyOn(process.stderr, 'write').mockImplementation((text) => ((err += String(text)), true));
});

const packages = (): string => readFileSync(join(root, 'definitions', 'packages.json'), 'utf8');

/** Replaces the link to a file of the package by another content. */
function change(name: string, change: (text: string) => string): () => void {
  const file = join(root, 'node_modules', CORE, name);
  const text = readFileSync(file, 'utf8');
  rmSync(file);
  writeFileSync(file, change(text));
  return () => writeFileSync(file, text);
}

describe('kiln generate --check', { timeout: PATIENCE }, () => {
  it('fails where a value set of the package has changed, though no table has it: the product has', async () => {
    const restore = change(UNBOUND, (text) => text.replace('"status"', '"experimental":true,"status"'));
    expect(await runGenerate({ check: true })).toBe(1);
    expect(err).toMatch(/^\S*generated\/manifest\.json:\d+: changed\n {2}found .*"sha256": .*\n {2}expected .*"sha256": .*\n1 of \d+ files/); // prettier-ignore
    restore();
  });
});

describe('kiln generate --accept', { timeout: PATIENCE }, () => {
  it('writes the counts that changed, and returns them', async () => {
    const before = packages();
    writeFileSync(join(root, 'definitions', 'packages.json'), before.replace('"resourceTypes": 158', '"resourceTypes": 157').replace('"operations": 59,', '')); // prettier-ignore
    expect((await acceptPackage()).toSorted()).toEqual(['operations: none -> 59', 'resourceTypes: 157 -> 158']);
    expect(JSON.parse(packages())).toEqual(JSON.parse(before));
  });

  it('makes another version of the package the permanent one, and says so', async () => {
    const before = packages();
    const restore = change('package.json', (text) => text.replace(/"version" *: *"5\.0\.0"/, '"version": "5.0.99"'));
    expect(await acceptPackage({ package: `${CORE}@5.0.99` })).toEqual([`package: ${CORE}@5.0.0 -> ${CORE}@5.0.99`]);
    expect(packages()).toBe(before.replace('"version": "5.0.0",\n      "role": "definitions"', '"version": "5.0.99",\n      "role": "definitions"')); // prettier-ignore
    restore();
    writeFileSync(join(root, 'definitions', 'packages.json'), before);
  });

  it('does not go with --check', async () => {
    expect(await runGenerate({ check: true, accept: true })).toBe(1);
    expect(err).toBe('--accept writes, and --check does not: give one of them\n');
    expect(out).toBe('');
  });
});

describe('the package that generated/ was made from', () => {
  const toy = (dir: string): string => writeToyPackage(dir, 'toy.fhir.core', '1.0.0');
  const input = (sha256: string) => ({ name: 'toy.fhir.core', version: '1.0.0', sha256 });

  it('is found by its digest: in node_modules, or where a tarball of the same name was unpacked', () => {
    const folder = newFolder('input');
    const installed = join(folder, 'node_modules', 'toy.fhir.core');
    cpSync(toy(newFolder('toy')), installed, { recursive: true });
    const unpacked = join(folder, 'node_modules/.cache/kiln-packages', 'file-0123456789abcdef');
    cpSync(toy(newFolder('toy')), unpacked, { recursive: true });
    writeFileSync(join(unpacked, 'SearchParameter-toy.json'), '{"code":"other"}');
    expect(findInput(input(digestPackage(installed)), folder).dir).toBe(installed);
    expect(findInput(input(digestPackage(unpacked)), folder).dir).toBe(unpacked);
    writeFileSync(join(installed, 'SearchParameter-toy.json'), '{"code":"changed"}');
    expect(() => findInput(input('0'.repeat(64)), folder)).toThrow(
      expect.objectContaining({
        message: 'generated/ was made from toy.fhir.core@1.0.0, whose files are no longer here',
        details: [
          `node_modules/toy.fhir.core has other files: not those with sha256 ${'0'.repeat(64)}`,
          expect.stringMatching(/^node_modules\/\.cache\/kiln-packages\/file-0123456789abcdef has other files/),
          expect.stringMatching(/^To mend: npm run generate, or/),
        ],
      }),
    );
  });
});
