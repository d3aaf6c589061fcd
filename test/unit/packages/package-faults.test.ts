import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { gzipSync } from 'node:zlib';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';

import { archive, codeSystem, guideFile, makePackage } from '../../guides/make-package.js';
import { command } from '../../service/auth.js';

let folder: string;
beforeEach(() => (folder = mkdtempSync(join(tmpdir(), 'kiln-package-'))));
afterEach(() => rmSync(folder, { recursive: true }));

async function kiln(...args: string[]) {
  const { code, out, err } = await command('package', ...args, '--store', `sqlite:${join(folder, 'kiln.db')}`);
  const text = (lines: string): string => lines.replaceAll(`${folder}/`, '');
  const errors = text(err)
    .split('\n')
    .filter((line) => line !== '' && !line.includes('new store at'));
  return { code, out: text(out), errors };
}

/** Nothing is left of what was refused. */
async function expectNothing(): Promise<void> {
  expect((await kiln('list')).out).toBe('no packages');
}

const MANIFEST = { path: 'package/package.json', content: '{"name":"odd.one","version":"1.0.0"}' };

describe('packages that are refused', () => {
  it.each([
    ['is not gzip', Buffer.from('no archive'), 'is no gzip archive'],
    ['is cut off', archive([MANIFEST]).subarray(0, 60), 'is cut off: the gzip stream ends too early'],
    [
      'has no manifest',
      archive([{ path: 'package/a.json', content: '{}' }]),
      'is no package: there is no package/package.json in it',
    ],
    [
      'has a file outside',
      archive([MANIFEST, { path: 'package/../../evil.json', content: '{}' }]),
      '/package/../../evil.json: leads outside of the package',
    ],
    [
      'has an absolute path',
      archive([MANIFEST, { path: '/etc/evil.json', content: '{}' }]),
      '//etc/evil.json: leads outside of the package: it is absolute',
    ],
    [
      'has a drive',
      archive([MANIFEST, { path: 'C:/evil.json', content: '{}' }]),
      '/C:/evil.json: leads outside of the package: it is absolute',
    ],
    [
      'has a backslash',
      archive([MANIFEST, { path: 'package\\evil.json', content: '{}' }]),
      '/package\\evil.json: a path has no backslash',
    ],
    [
      'has a link',
      archive([MANIFEST, { path: 'package/link.json', type: '2' }]),
      '/package/link.json: is no file but a SymbolicLink',
    ],
    [
      'has a device',
      archive([MANIFEST, { path: 'package/device', type: '3' }]),
      '/package/device: is no file but a CharacterDevice',
    ],
    ['has a path twice', archive([MANIFEST, MANIFEST]), '/package/package.json: this path is there twice'],
    ['is packed twice', gzipSync(archive([MANIFEST])), 'is no tar archive: what it unpacks to is packed again'],
  ])('one that %s', async (_, bytes, what) => {
    const file = join(folder, 'odd.tgz');
    writeFileSync(file, bytes);
    const { code, errors } = await kiln('add', file);
    expect({ code, errors }).toEqual({
      code: 1,
      errors: [expect.stringContaining(`kiln: odd.tgz${what.startsWith('/') ? '' : ': '}${what}`)],
    });
    await expectNothing();
  });

  it('one that is larger than the limits: by its file, unpacked, by entries, by one resource; a bomb', async () => {
    const file = join(folder, 'bomb.tgz');
    writeFileSync(file, archive([MANIFEST, { path: 'package/other.bin', content: Buffer.alloc(64 * 1024 * 1024) }]));
    const refusal = async (...limit: string[]) => (await kiln('add', file, ...limit)).errors;
    expect(await refusal('--limits-package-unpacked', '1MB')).toEqual([
      'kiln: bomb.tgz: unpacks to more than 1 MB; raise --limits-package-unpacked if you trust it',
    ]);
    expect(await refusal('--limits-package-file', '1kB')).toEqual([
      'kiln: bomb.tgz: is larger than 1 kB; raise --limits-package-file',
    ]);
    expect(await refusal('--limits-package-entries', '1')).toEqual([
      'kiln: bomb.tgz: has more than 1 entries; raise --limits-package-entries',
    ]);
    const large = makePackage(folder, { name: 'large.one', version: '1.0.0' }, [
      codeSystem('large', 'http://a.example/large', { description: 'x'.repeat(5000) }),
    ]);
    expect((await kiln('add', large, '--limits-package-resource', '4kB')).errors).toEqual([
      'kiln: large.one-1.0.0.tgz/package/r0.json: is larger than 4 kB; raise --limits-package-resource',
    ]);
    await expectNothing();
  });

  it('all faults are named at once, each with its file', async () => {
    const wrong = makePackage(folder, { name: 'One', version: 'new', fhirVersions: ['4.0.1'] });
    const content = makePackage(
      folder,
      { name: 'two.two', version: '1.0.0', dependencies: { 'not.here': '1.0.0' } },
      [
        codeSystem('a', 'http://a.example/a', { status: 1 }),
        codeSystem('b', 'http://a.example/b', { extra: 1 }),
        { resourceType: 'StructureDefinition', fhirVersion: '4.0.1', url: 'http://a.example/c' },
      ],
      [{ path: 'package/twice.json', content: '{"resourceType":"CodeSystem","id":"a","id":"b"}' }],
    );
    const { code, errors } = await kiln('add', wrong, content);
    expect(code).toBe(1);
    const found = (part: string): boolean => errors.some((line) => line.includes(part));
    for (const part of [
      'One-new.tgz/package/package.json: name "One" is no name of a package',
      'One-new.tgz/package/package.json: version "new" is no version',
      'One-new.tgz/package/package.json: is for FHIR 4.0.1 (fhirVersions), not for 5.0.0',
      'two.two-1.0.0.tgz/package/r0.json: CodeSystem.status',
      'two.two-1.0.0.tgz/package/r1.json: CodeSystem.extra',
      'two.two-1.0.0.tgz/package/r2.json: its fhirVersion is 4.0.1, not 5.0.0',
      'two.two-1.0.0.tgz/package/twice.json: ',
    ])
      expect(found(part), `${part}\n${errors.join('\n')}`).toBe(true);
    await expectNothing();
  });

  it('a command that is called wrongly ends with 2', async () => {
    expect((await kiln('add', 'a.tgz', '--use', 'b')).code).toBe(2);
    expect((await kiln('add')).code).toBe(2);
    expect((await kiln('add', join(folder, 'none.tgz'))).errors).toEqual(['kiln: none.tgz: there is no such file']);
  });
});

describe('packages that share something', () => {
  it('the same canonical with other content is refused, and both packages are named; with the same it is one resource', async () => {
    const one = makePackage(folder, { name: 'one.one', version: '1.0.0' }, [codeSystem('x', 'http://a.example/x')]);
    const two = makePackage(folder, { name: 'two.two', version: '1.0.0' }, [
      codeSystem('x', 'http://a.example/x', { title: 'Another' }),
    ]);
    const three = makePackage(folder, { name: 'three.three', version: '1.0.0' }, [
      codeSystem('y', 'http://a.example/x'),
    ]);
    const fault = (file: string, owner: string): string =>
      `kiln: ${file}/package/r0.json: http://a.example/x|1.0.0 has another content than CodeSystem/x, which is of ${owner}; the two packages exclude each other: take another version of one`;
    expect((await kiln('add', one, two)).errors).toEqual([fault('two.two-1.0.0.tgz', 'one.one@1.0.0')]);
    await expectNothing();
    expect((await kiln('add', one)).code).toBe(0);
    expect((await kiln('add', two)).errors).toEqual([fault('two.two-1.0.0.tgz', 'one.one@1.0.0')]);
    expect((await kiln('add', three)).code).toBe(0);
    expect((await kiln('remove', 'one.one')).out).toBe(
      'one.one@1.0.0: 0 resources removed; 1 stays: others have them too, or they were gone',
    );
    expect((await kiln('check')).out).toBe('1 package, 1 definition: all as they came');
    expect((await kiln('remove', 'three.three')).out).toBe('three.three@1.0.0: 1 resource removed');
  });

  it('one id with two canonicals, and one canonical in two versions, are all there', async () => {
    const one = makePackage(folder, { name: 'one.one', version: '1.0.0' }, [
      codeSystem('x', 'http://a.example/x'),
      codeSystem('x', 'http://b.example/x'),
      codeSystem('y', 'http://a.example/x', { version: '1.0.2' }),
      codeSystem('an_illegal_id', 'http://c.example/x'),
    ]);
    expect((await kiln('add', one)).code).toBe(0);
    const [lock] = JSON.parse((await kiln('list', '--json')).out) as [{ resources: { id: string; url: string }[] }];
    expect(lock.resources.map(({ id }) => id)).toEqual(['x', expect.stringMatching(/^x-[0-9a-f]{16}$/), 'y', expect.stringMatching(/^x-[0-9a-f]{16}$/)]); // prettier-ignore
    expect((await kiln('add', one)).out).toBe('one.one@1.0.0 is already there');
    expect((await kiln('check')).code).toBe(0);
  });

  it('what another package needs is not removed, unless it is forced', async () => {
    const needed = makePackage(folder, {
      name: 'needed.one',
      version: '1.0.0',
      dependencies: { 'needing.one': '1.0.0' },
    });
    const needing = makePackage(folder, {
      name: 'needing.one',
      version: '1.0.0',
      dependencies: { 'needed.one': '1.0.0' },
    });
    expect((await kiln('add', needing)).code).toBe(0);
    expect((await kiln('list')).out).toContain('needed.one@1.0.0  dependency');
    expect((await kiln('remove', 'needed.one')).errors).toEqual([
      'kiln: needed.one@1.0.0: is needed by needing.one@1.0.0; remove that first, or say --force',
    ]);
    expect((await kiln('remove', 'needed.one', '--force')).code).toBe(0);
    const { code, out } = await kiln('check');
    expect({ code, out }).toEqual({ code: 1, out: 'needing.one@1.0.0 needs needed.one, which is not there' });
    expect((await kiln('add', needed)).code).toBe(0);
    expect((await kiln('remove', 'none.one')).errors[0]).toContain('kiln: none.one: is not installed');
  });

  it('the same version with other content needs --replace, an older one --downgrade', async () => {
    const first = makePackage(join(folder, 'a'), { name: 'one.one', version: '1.0.0' }, [
      codeSystem('x', 'http://a.example/x'),
    ]);
    const other = makePackage(join(folder, 'b'), { name: 'one.one', version: '1.0.0' }, [
      codeSystem('x', 'http://a.example/x', { title: 'Another' }),
    ]);
    const newer = makePackage(join(folder, 'c'), { name: 'one.one', version: '1.1.0' }, [
      codeSystem('x', 'http://a.example/x'),
    ]);
    expect((await kiln('add', first)).code).toBe(0);
    expect((await kiln('add', other)).errors).toEqual([
      'kiln: b/one.one-1.0.0.tgz: one.one@1.0.0 is stored with another content; to put this one in its place, say --replace',
    ]);
    expect((await kiln('diff', other)).out).toBe('~ CodeSystem/x\n    title: + Another');
    expect((await kiln('add', other, '--replace')).out).toContain('0 resources added, 1 changed, 0 removed');
    expect((await kiln('add', newer)).out).toContain('1 changed');
    expect((await kiln('add', first)).errors[0]).toContain('say --downgrade');
    expect((await kiln('add', first, '--downgrade')).out).toContain('0 resources added, 0 changed, 0 removed');
  });

  it('a SearchParameter that cannot be in effect stops nothing, and is named', async () => {
    const parameter = (id: string, code: string, expression: string) => ({
      ...{ resourceType: 'SearchParameter', id, url: `http://a.example/${id}`, name: 'X', status: 'active' },
      ...{ description: 'x', code, base: ['Patient'], type: 'token', expression, processingMode: 'normal' },
    });
    const first = makePackage(folder, { name: 'z.first', version: '1.0.0' }, [
      parameter('z', 'mark', 'Patient.gender'),
    ]);
    const later = makePackage(folder, { name: 'a.later', version: '1.0.0' }, [
      parameter('a', 'mark', 'Patient.active'),
      parameter('b', 'gender', 'Patient.active'),
      parameter('c', 'odd', 'Patient.(('),
    ]);
    expect((await kiln('add', first)).out).not.toContain('without effect');
    const { code, out } = await kiln('add', later);
    expect(code).toBe(0);
    for (const id of ['a', 'b', 'c'])
      expect(out).toContain(`without effect: SearchParameter/${id} (http://a.example/${id}): `);
    expect(out).not.toContain('SearchParameter/z ');
    const check = await kiln('check');
    expect(check.code).toBe(0);
    expect(check.out).toContain('without effect: SearchParameter/a');
    expect((await kiln('remove', 'z.first')).code).toBe(0);
    expect((await kiln('list')).out).not.toContain('SearchParameter/a ');
  });

  it('what is no definition is left out, and counted; --dry-run does nothing', async () => {
    const file = makePackage(folder, { name: 'one.one', version: '1.0.0' }, [
      codeSystem('x', 'http://a.example/x'),
      { resourceType: 'List', status: 'current', mode: 'working' },
      { resourceType: 'Bundle', type: 'collection' },
      { resourceType: 'Bundle', type: 'collection' },
      { some: 'thing' },
    ]);
    const trial = await kiln('add', file, '--dry-run');
    expect(trial.out).toBe(
      'one.one@1.0.0: 1 definition\n  left out: 1 List, 1 files without resourceType, 2 Bundle\n1 resource would be added, 0 changed, 0 removed',
    );
    await expectNothing();
    expect((await kiln('add', file)).code).toBe(0);
  });
});

it('the newer version of the example guide differs by a few lines', async () => {
  expect((await kiln('add', guideFile('example.guide-1.0.0'))).code).toBe(0);
  const { code, out } = await kiln('diff', guideFile('example.guide-1.1.0'));
  expect(code).toBe(1);
  expect(out.split('\n').length).toBeLessThanOrEqual(40);
  expect(out).toContain('example.guide: 1.0.0 → 1.1.0');
  expect(out).toContain('version: 1.0.0 → 1.1.0');
  expect(out).toContain('concept[code=icu]: + ');
  expect(out).toContain('differential.element[id=Patient.telecom]: + ');
  expect((await kiln('diff', guideFile('example.guide-1.0.0'))).code).toBe(0);
});
