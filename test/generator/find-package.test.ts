import {
  chmodSync,
  cpSync,
  existsSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  symlinkSync,
  truncateSync,
  writeFileSync,
} from 'node:fs';
import { delimiter, join } from 'node:path';
import { afterEach, describe, expect, it, vi } from 'vitest';
import { GeneratorError } from '../../generator/generator-error.js';
import { findPackage } from '../../generator/load/find-package.js';
import { loadPackage } from '../../generator/load/package.js';
import { PATIENCE, runFile, temporaryFolders } from './command.js';
import { pack, writeToyPackage } from './tarball.js';

const newFolder = temporaryFolders();
const CACHE = 'node_modules/.cache/kiln-packages';

afterEach(() => vi.unstubAllEnvs());

/** A checkout with nothing in it. */
const newRoot = (): string => newFolder('root');

/** Puts a package where it may be looked for. */
function install(root: string, place: string, name: string, version: string): void {
  const dir = join(root, place);
  mkdirSync(dir, { recursive: true });
  cpSync(writeToyPackage(newFolder('toy'), name, version), dir, { recursive: true });
}

/** The message of the refusal. */
async function refusalOf(request: string, root = newRoot()): Promise<string> {
  const error: unknown = await findPackage(request, root).then(
    ({ dir }) => `found ${dir}`,
    (reason: unknown) => reason,
  );
  expect(error).toBeInstanceOf(GeneratorError);
  return (error as GeneratorError).message;
}

/** npm cannot reach any registry. */
function goOffline(): void {
  vi.stubEnv('npm_config_registry', 'http://127.0.0.1:1');
  vi.stubEnv('npm_config_fetch_retries', '0');
}

describe('NAME@VERSION', () => {
  it('is looked for in node_modules, then in test/packages, then in the cache', async () => {
    const root = newRoot();
    const places = [`${CACHE}/toy@1.0.0`, 'test/packages/node_modules/toy', 'node_modules/toy'];
    for (const place of places) {
      install(root, place, 'toy', '1.0.0');
      expect(await findPackage('toy@1.0.0', root)).toEqual({ name: 'toy', version: '1.0.0', dir: join(root, place) });
    }
  });

  it('is passed over where another version or another package lies', async () => {
    const root = newRoot();
    install(root, 'node_modules/toy', 'toy', '2.0.0');
    install(root, 'test/packages/node_modules/toy', 'other', '1.0.0');
    install(root, `${CACHE}/toy@1.0.0`, 'toy', '1.0.0');
    expect((await findPackage('toy@1.0.0', root)).dir).toBe(join(root, CACHE, 'toy@1.0.0'));
  });

  it('is fetched by npm pack into the cache, once', async () => {
    const dir = newFolder('npm');
    writeToyPackage(dir, 'toy', '1.0.0');
    // Stands for npm: takes its tarball for any it is asked for, and notes that it was.
    const script = ['#!/bin/sh', `echo "$*" >> '${dir}/calls'`, `cp '${pack(dir)}' "$5/toy-1.0.0.tgz"`].join('\n');
    writeFileSync(join(dir, 'npm'), script);
    chmodSync(join(dir, 'npm'), 0o755);
    vi.stubEnv('PATH', `${dir}${delimiter}${process.env['PATH'] ?? ''}`);
    const root = newRoot();
    for (let time = 0; time < 2; time++) {
      const found = await findPackage('toy@1.0.0', root);
      expect(found).toEqual({ name: 'toy', version: '1.0.0', dir: join(root, CACHE, 'toy@1.0.0') });
    }
    expect(readFileSync(join(dir, 'calls'), 'utf8')).toMatch(/^pack toy@1\.0\.0 --silent --pack-destination \S+\n$/);
    expect(readdirSync(join(root, CACHE))).toEqual(['toy@1.0.0']);
  });

  it('that npm cannot fetch is refused with what to do', async () => {
    goOffline();
    expect(await refusalOf('hl7.fhir.r9.core@9.0.0')).toBe(
      'package hl7.fhir.r9.core@9.0.0 is neither in node_modules nor under test/packages, and npm cannot fetch it; ' +
        'check name and version, or give the path of its .tgz file',
    );
  });

  it.each([
    '',
    'toy',
    '@1.0.0',
    'toy@',
    'toy@^1.0.0',
    '../toy@1.0.0',
    '-g@1.0.0',
    'a/b@1.0.0',
    'toy@1.0.0 x',
    'dir/toy',
  ])('"%s" is refused before anyone looks for it', async (request) => {
    expect(await refusalOf(request)).toBe(`--package ${request}: expected NAME@VERSION, or the path of a .tgz file`);
  });
});

describe('a tarball', () => {
  it('is unpacked into the cache under its checksum: one that calls itself like a published package is not taken for it', async () => {
    const root = newRoot();
    const dir = newFolder('toy');
    writeToyPackage(dir, 'toy', '1.0.0');
    const found = await findPackage(pack(dir), root);
    expect(found).toMatchObject({ name: 'toy', version: '1.0.0' });
    expect(found.dir).toMatch(/kiln-packages\/file-[0-9a-f]{32}$/);
    expect(readdirSync(found.dir).sort()).toEqual([
      'SearchParameter-toy.json',
      'StructureDefinition-Toy.json',
      'package.json',
    ]);
    goOffline();
    expect(await refusalOf('toy@1.0.0', root)).toContain('npm cannot fetch it');
  });

  it('that changed is unpacked anew', async () => {
    const root = newRoot();
    const dir = newFolder('toy');
    const folder = writeToyPackage(dir, 'toy', '1.0.0');
    const first = await findPackage(pack(dir), root);
    writeFileSync(join(folder, 'StructureDefinition-Toy.json'), '{"id":"changed"}');
    const second = await findPackage(pack(dir), root);
    expect(second.dir).not.toBe(first.dir);
    expect(readFileSync(join(second.dir, 'StructureDefinition-Toy.json'), 'utf8')).toBe('{"id":"changed"}');
  });

  it('unpacked by two runs at once is there for both, whole', { timeout: PATIENCE }, async () => {
    const root = newRoot();
    const dir = newFolder('toy');
    const folder = writeToyPackage(dir, 'toy', '1.0.0');
    for (let i = 0; i < 300; i++)
      writeFileSync(join(folder, `StructureDefinition-${String(i)}.json`), 'x'.repeat(20_000));
    const file = pack(dir);
    const runs = [1, 2].map(() => runFile('test/generator/find-one.ts', [file, root]));
    for (const ended of await Promise.all(runs))
      expect(ended).toMatchObject({ code: 0, out: 'toy@1.0.0: 303 files\n' });
    expect(readdirSync(join(root, CACHE))).toHaveLength(1);
  });

  it('that is not there is refused', async () => {
    expect(await refusalOf('no/such.tgz')).toBe('--package no/such.tgz: no such file');
    expect(await refusalOf(`${newFolder('toy')}/.tgz`)).toContain('no such file');
  });

  const unreadable = /^--package made\.tgz: not a readable package tarball \(.*\)$/;

  it.each<[string, (file: string) => void]>([
    ['holds nothing', (file) => writeFileSync(file, '')],
    ['is something else', (file) => writeFileSync(file, 'a letter to my aunt, '.repeat(1000))],
    ['was cut short', (file) => truncateSync(file, 20_000)],
  ])('that %s is refused, and leaves nothing in the cache', async (_title, spoil) => {
    const root = newRoot();
    const dir = newFolder('toy');
    const noise = Array.from({ length: 20_000 }, (_, i) => Math.sin(i)).join();
    writeFileSync(join(writeToyPackage(dir, 'toy', '1.0.0'), 'ValueSet-big.json'), noise);
    const file = pack(dir);
    spoil(file);
    expect(await refusalOf(file, root)).toMatch(unreadable);
    expect(readdirSync(join(root, CACHE))).toEqual([]);
  });

  it.each<[string, string | undefined]>([
    ['has no package.json', undefined],
    ['has a package.json without name', '{"version":"1.0.0"}'],
    ['has a package.json that is no JSON', '{'],
  ])('that %s is refused', async (_title, content) => {
    const dir = newFolder('toy');
    const folder = writeToyPackage(dir, 'toy', '1.0.0');
    if (content !== undefined) writeFileSync(join(folder, 'package.json'), content);
    const names = content === undefined ? ['package/StructureDefinition-Toy.json'] : ['package'];
    expect(await refusalOf(pack(dir, names))).toMatch(unreadable);
  });

  it('with a link in it is refused: it may point to any file', async () => {
    const dir = newFolder('toy');
    const folder = writeToyPackage(dir, 'toy', '1.0.0');
    symlinkSync('/etc/hostname', join(folder, 'StructureDefinition-link.json'));
    expect(await refusalOf(pack(dir))).toMatch(/\(package\/StructureDefinition-link\.json is a link\)$/);
  });

  it('with a definition that is no JSON is refused by the name of the file', async () => {
    const dir = newFolder('toy');
    writeFileSync(join(writeToyPackage(dir, 'toy', '1.0.0'), 'StructureDefinition-Toy.json'), '{"a":');
    const found = await findPackage(pack(dir), newRoot());
    expect(() => loadPackage(found)).toThrow(/^toy\/StructureDefinition-Toy\.json: not readable as JSON/);
  });

  it('that reaches out of its folder writes nothing there', async () => {
    const root = newRoot();
    const work = newFolder('evil');
    const dir = join(work, 'in');
    const folder = writeToyPackage(dir, 'toy', '1.0.0');
    writeFileSync(join(work, 'evil.json'), '"stolen"');
    writeFileSync(join(work, 'package.json'), '{"name":"evil","version":"6.6.6"}');
    mkdirSync(join(folder, 'deep'));
    writeFileSync(join(folder, 'deep/evil.json'), '"deep"');
    const absolute = join(work, 'evil.json');
    const found = await findPackage(pack(dir, ['package', '../evil.json', '../package.json', absolute]), root);
    expect(found).toMatchObject({ name: 'toy', version: '1.0.0' });
    expect(readdirSync(found.dir).filter((name) => /evil|deep/.test(name))).toEqual([]);
    expect(existsSync(join(found.dir, '../evil.json'))).toBe(false);
    expect(readdirSync(join(root, CACHE))).toHaveLength(1);
  });
});
