import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { create } from 'tar';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';

import { describeFaults } from '../../../runtime/cli/load/faults.js';
import { runProgram } from '../../../runtime/cli/program.js';

let folder: string;
beforeEach(() => (folder = mkdtempSync(join(tmpdir(), 'kiln-packages-'))));
afterEach(() => rmSync(folder, { recursive: true }));

async function load(...paths: string[]) {
  const lines: string[] = [];
  const code = await runProgram(['load', ...paths, '--store', `sqlite:${join(folder, 'kiln.db')}`], {
    ...{ out: (line) => lines.push(line), err: (line) => lines.push(line), draw: () => {} },
    env: {},
  });
  return { code, text: lines.join('\n').replaceAll(`${folder}/`, '') };
}

const system = (id: string, url: string, more: object = {}) => ({
  ...{ resourceType: 'CodeSystem', id, url, status: 'active', content: 'not-present', ...more },
});

/** An archive; its manifest comes first, as `npm pack` puts it, unless it is to come last. */
function packed(name: string, manifest: object, resources: readonly { id: string }[], isLast = false): string {
  const at = join(folder, name, 'package');
  mkdirSync(at, { recursive: true });
  writeFileSync(join(at, 'package.json'), JSON.stringify({ name, version: '1.0.0', ...manifest }));
  const files = resources.map((each) => `package/CodeSystem-${each.id}.json`);
  for (const [i, each] of resources.entries()) writeFileSync(join(folder, name, files[i]!), JSON.stringify(each));
  const file = join(folder, `${name}.tgz`);
  const all = isLast ? [...files, 'package/package.json'] : ['package/package.json', ...files];
  create({ file, cwd: join(folder, name), gzip: true, sync: true }, all);
  return file;
}

const R5 = { fhirVersions: ['5.0.0'] };

describe('kiln load of packages', () => {
  it.each([
    ['fhirVersions', { fhirVersions: ['4.0.1'] }, false],
    ['fhirVersions at the end of the archive', { fhirVersions: ['4.0.1', '4.3.0'] }, true],
    ['fhir-version-list', { 'fhir-version-list': ['4.0.1'] }, false],
  ])('of another version of FHIR is refused before anything is stored: %s', async (_, manifest, isLast) => {
    const right = packed('right', R5, [system('a', 'http://a.example/a')]);
    const wrong = packed('wrong', manifest, [system('b', 'http://a.example/b')], isLast);
    const { code, text } = await load(right, wrong);
    expect(code).not.toBe(0);
    expect(text).toMatch(
      /nothing was loaded: wrong\.tgz is for FHIR 4\.0\.1.* \(fhirVersions in .*\), not for 5\.0\.0/,
    );
    expect((await load(right)).text).toContain('1 created, 0 updated');
  });

  it('so is an unpacked one; what says nothing, and what is for several, is taken', async () => {
    packed('old', { fhirVersions: ['4.0.1'] }, [system('b', 'http://a.example/b')]);
    expect((await load(join(folder, 'old'))).text).toContain('nothing was loaded: old/package is for FHIR 4.0.1');
    const silent = packed('silent', {}, [system('c', 'http://a.example/c')]);
    const both = packed('both', { fhirVersions: ['4.0.1', '5.0.0'] }, [system('d', 'http://a.example/d')]);
    const { code, text } = await load(silent, both);
    expect(code, text).toBe(0);
    expect(text).toContain('2 created');
  });

  it('equal ids of two canonicals are stored under two ids, the same again next time; of one canonical the first one stays', async () => {
    const one = packed('one', R5, [system('x', 'http://a.example/x'), system('y', 'http://a.example/y')]);
    const two = packed('two', R5, [
      system('x', 'http://b.example/x'),
      system('y', 'http://a.example/y', { title: 'Another' }),
      system('z', 'http://b.example/z'),
    ]);
    const { code, text } = await load(one, two);
    expect(code).toBe(1);
    expect(text).toContain('two.tgz and one.tgz have different contents of CodeSystem/y');
    expect(text).toContain('4 created, 0 updated, 0 unchanged; 1 failed');
    expect((await load(two)).text).toContain('0 created, 1 updated, 2 unchanged; 0 failed');
    // Whichever comes first.
    expect((await load(two, one)).text).toContain('0 created, 0 updated, 4 unchanged; 1 failed');
  });

  it('what went under another id is there once, also after the first holder of its own id was deleted', async () => {
    const one = packed('one', R5, [system('x', 'http://a.example/x')]);
    const two = packed('two', R5, [system('x', 'http://b.example/x')]);
    expect((await load(one, two)).text).toContain('2 created');
    const gone = join(folder, 'gone.json');
    const entry = [{ request: { method: 'DELETE', url: 'CodeSystem/x' } }];
    writeFileSync(gone, JSON.stringify({ resourceType: 'Bundle', type: 'transaction', entry }));
    expect((await load(gone, '--bundles', 'apply')).code).toBe(0);
    expect((await load(two)).text).toContain('0 created, 0 updated, 1 unchanged; 0 failed');
    expect((await load(one, two)).text).toContain('1 created, 0 updated, 1 unchanged; 0 failed');
  });

  it('the same from two packages is no fault, and a later one replaces what has its canonical alone', async () => {
    const one = packed('one', R5, [system('x', 'http://a.example/x'), system('y', 'http://a.example/y')]);
    const two = packed('two', R5, [system('x', 'http://a.example/x')]);
    expect((await load(one, two)).code).toBe(0);
    const newer = packed('newer', R5, [
      system('x', 'http://a.example/x', { title: 'Newer' }),
      system('y', 'http://b.example/y'),
    ]);
    const { code, text } = await load(newer);
    expect(code, text).toBe(0);
    expect(text).toContain('1 created, 1 updated');
    const without = packed('without', R5, [system('y', 'http://a.example/y', { url: undefined })]);
    expect((await load(without)).text).toContain(
      'CodeSystem/y is there already, http://a.example/y; the package has one without url',
    );
  });

  it('what is in other folders of a package is no resource', async () => {
    const at = packed('folders', R5, [system('a', 'http://a.example/a')]).replace('.tgz', '/package');
    for (const name of ['other', 'xml', 'example', 'examples']) {
      mkdirSync(join(at, name));
      writeFileSync(join(at, name, 'b.json'), JSON.stringify(system(name, `http://a.example/${name}`)));
    }
    writeFileSync(join(at, 'other', 'c.json'), '{"resourceType":"Bundle","entry":[{}');
    const { code, text } = await load(at);
    expect(code, text).toBe(0);
    expect(text).toContain('3 created, 0 updated, 0 unchanged; 0 failed, 4 other files skipped');
  });

  it('a SearchParameter that can never be in effect does not stop a package, and is named; one that a stored one forbids is refused', async () => {
    const parameter = (id: string, code: string, more: object = {}) => ({
      ...{ resourceType: 'SearchParameter', id, url: `http://a.example/${id}`, name: 'N', description: 'D' },
      ...{ status: 'active', code, base: ['Patient'], type: 'token', processingMode: 'normal' },
      ...{ expression: 'Patient.active', ...more },
    });
    const { code, text } = await load(
      packed('parameters', R5, [
        parameter('useful', 'really'),
        parameter('taken', 'gender'),
        parameter('wrong', 'wrong', { type: 'number' }),
        parameter('unreadable', 'unreadable', { expression: 'Patient.(' }),
      ]),
    );
    expect(code, text).toBe(0);
    expect(text).toContain('4 created');
    for (const id of ['taken', 'wrong', 'unreadable']) {
      expect(text).toContain(`SearchParameter/${id} is active and not in effect: `);
    }
    expect(text).not.toContain('SearchParameter/useful is');
    // The one with the lower id would be in effect instead.
    const rival = await load(packed('rival', R5, [parameter('a', 'really')]));
    expect([rival.code, rival.text]).toEqual([1, expect.stringContaining('Patient has the stored parameter really')]);
    // A file of no package is somebody's own.
    const file = join(folder, 'own.json');
    writeFileSync(file, JSON.stringify(parameter('own', 'gender')));
    const own = await load(file);
    expect([own.code, own.text]).toEqual([1, expect.stringContaining('Patient has the built-in parameter gender')]);
  });

  it('a message has its path once', () => {
    const expression = 'Bundle.entry[7].resource';
    expect(describeFaults([{ expression, text: `${expression}: is wrong` }])).toBe(`${expression}: is wrong`);
    expect(describeFaults([{ expression: `${expression}.name`, text: 'Patient.name: is wrong' }])).toBe(
      `${expression}.name: is wrong`,
    );
    expect(describeFaults([{ expression, text: 'is wrong' }])).toBe(`${expression}: is wrong`);
  });
});
