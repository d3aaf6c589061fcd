import { cpSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, describe, expect, it } from 'vitest';
import { findPackage } from '../../generator/load/find-package.js';
import { loadPackage, type LoadedPackage } from '../../generator/load/package.js';
import { verifyDefinitions } from '../../generator/verify/definitions.js';
import { write } from '../../generator/write.js';
import { TOY_PACKAGE } from '../golden/toy-model.js';

const folders: string[] = [];
afterEach(() => {
  for (const folder of folders.splice(0)) rmSync(folder, { recursive: true });
});

function temporary(): string {
  const folder = mkdtempSync(join(tmpdir(), 'kiln-hostile-'));
  folders.push(folder);
  return folder;
}

/** The toy package with one file altered. */
function altered(file: string, alter: (definition: Record<string, unknown>) => void): LoadedPackage {
  const dir = temporary();
  cpSync(TOY_PACKAGE, dir, { recursive: true });
  const definition = JSON.parse(readFileSync(join(dir, file), 'utf8')) as Record<string, unknown>;
  alter(definition);
  writeFileSync(join(dir, file), JSON.stringify(definition));
  return loadPackage({ name: 'toy.fhir.core', version: '1.0.0', dir });
}

/** What `verifyDefinitions` says, a line each. */
function faultsOf(loaded: LoadedPackage): string {
  try {
    verifyDefinitions(loaded);
    return '';
  } catch (error) {
    return [(error as Error).message, ...(error as { details: string[] }).details].join('\n');
  }
}

const ANIMAL = 'StructureDefinition-Animal.json';
type Elements = { element: { path: string }[] };

describe('a package may come from anywhere', () => {
  it('and passes as it is', () => {
    expect(faultsOf(altered(ANIMAL, () => {}))).toBe('');
  });

  it.each<[string, string, (definition: Record<string, unknown>) => void, RegExp]>([
    ['a type named like a path', ANIMAL, (d) => (d['type'] = '../../evil name'), /is no name of a type/],
    ['a url with a line of code', ANIMAL, (d) => (d['url'] = 'http://x/A\nevil();'), /no canonical url/],
    [
      'an element that is code',
      ANIMAL,
      (d) => ((d['snapshot'] as Elements).element[2] = { path: 'Animal.x: 1 } evil' }),
      /no path of an element/,
    ],
    ['a type without a snapshot', ANIMAL, (d) => delete d['snapshot'], /has no snapshot/],
    [
      'a type that specialises itself',
      ANIMAL,
      (d) => (d['baseDefinition'] = 'http://x/Animal'),
      /cannot specialise itself/,
    ],
    [
      'an operation named like a path',
      'OperationDefinition-Animal-weigh.json',
      (d) => (d['code'] = '../x'),
      /no name for a URL/,
    ],
  ])('%s is refused by name', (_what, file, alter, message) => {
    expect(faultsOf(altered(file, alter))).toMatch(message);
  });

  it('a version that is code is refused', async () => {
    const { create } = await import('tar');
    const dir = temporary();
    cpSync(TOY_PACKAGE, join(dir, 'package'), { recursive: true });
    writeFileSync(join(dir, 'package/package.json'), JSON.stringify({ name: 'toy', version: '1\nevil();//' }));
    const file = join(dir, 'toy.tgz');
    await create({ file, cwd: dir, gzip: true }, ['package']);
    await expect(findPackage(file, dir)).rejects.toThrow(/name or version/);
  });

  it('nothing is written outside the output folder', () => {
    const dir = temporary();
    const files = new Map([['../outside.ts', '']]);
    expect(() => write(dir, files, [{ path: '../outside.ts', kind: 'missing' }])).toThrow(/outside/);
  });
});
