import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { beforeAll, describe, expect, it, vi } from 'vitest';
import { runGenerate } from '../../../generator/cli.js';
import { makeFiles } from '../../../generator/generate.js';
import { write } from '../../../generator/write.js';
import { readTree, runKiln, temporaryFolders } from '../../generator/command.js';
import { changeOf, modelOfTarball } from '../../generator/changed-package.js';
import { ourModel } from '../../generator/our-model.js';
import { R4B } from '../../generator/release.js';
import { typeCheck } from '../../generator/type-check.js';

interface Manifest {
  readonly inputs: readonly { readonly name: string; readonly version: string }[];
  readonly counts: Readonly<Record<string, number>>;
}

const newFolder = temporaryFolders();
let files: ReadonlyMap<string, string>;
beforeAll(async () => {
  files = makeFiles(await ourModel());
});

describe('the output depends on the definitions alone', () => {
  it('the same bytes in another time zone, in Turkish, and in another folder', async () => {
    const dir = join(newFolder('output'), 'generated');
    const env = { TZ: 'Pacific/Kiritimati', LANG: 'tr_TR.UTF-8', LC_ALL: 'tr_TR.UTF-8' };
    expect(await runKiln(['generate', '--out', dir], { cwd: tmpdir(), env })).toMatchObject({ code: 0, err: '' });
    const tree = readTree(dir);
    expect([...files].filter(([path, text]) => tree.get(path) !== text).map(([path]) => path)).toEqual([]);
    expect([...tree.keys()]).toEqual([...files.keys()]);
  });
});

describe('another package: the generator knows the meta-model of FHIR, not the types of one release', () => {
  let dir: string;
  let r4b: ReadonlyMap<string, string>;
  beforeAll(async () => {
    dir = newFolder('packages');
    const said = vi.spyOn(process.stdout, 'write').mockReturnValue(true);
    expect(await runGenerate({ package: R4B, out: join(dir, 'r4b') })).toBe(0);
    said.mockRestore();
    r4b = readTree(join(dir, 'r4b'));
  });

  it('R4B and R5 type-check against the same contract, and what is wrong does not', async () => {
    const basic = files.get('tables/basic.ts')!;
    const trees = new Map([
      ...[...files].map(([path, text]): [string, string] => [`r5/${path}`, text]),
      ['wrong/row.ts', basic.replace("name: 'subject'", "label: 'subject'")],
      ['wrong/maximum.ts', basic.replace("max: '*'", "max: '7'")],
      [
        'wrong/resource.ts',
        "import type { AnyResource } from '../r5/types/resource-union.js';\n" +
          "export const patient: AnyResource = { resourceType: 'Patient', birthDate: 1970 };\n",
      ],
    ]);
    write(
      dir,
      trees,
      [...trees.keys()].map((path) => ({ path, kind: 'missing' })),
    );
    expect(await typeCheck(dir, ['r4b', 'r5', 'wrong'])).toEqual([
      expect.stringMatching(/^wrong\/maximum\.ts.*Type '"7"' is not assignable to type '"\*"'/),
      expect.stringMatching(/^wrong\/resource\.ts.*Type 'number' is not assignable to type 'string'/),
      expect.stringMatching(/^wrong\/row\.ts.*'label' does not exist in type 'ElementRow'/),
    ]);
  });

  it('R4B has its own types, and no code tables of R5', () => {
    const manifest = JSON.parse(r4b.get('manifest.json')!) as Manifest;
    expect(manifest.counts).toMatchObject({ resourceTypes: 141, primitives: 20, compartments: 5 });
    expect(manifest.inputs.map(({ name }) => name)).toEqual(['hl7.fhir.r4b.core']);
    expect(r4b.get('tables.ts')).toContain(`package: '${R4B}', fhirVersion: '4.3.0'`);
    expect(r4b.has('tables/media.ts') && !r4b.has('tables/transport.ts')).toBe(true);
    expect(files.has('tables/transport.ts') && !files.has('tables/media.ts')).toBe(true);
  });
});

describe('a change of one element', () => {
  it('is a change of one row, its type, the page of its type and the checksums', async () => {
    const after = makeFiles(
      await modelOfTarball(newFolder('one-element'), (each) => [
        each.id === 'Patient.birthDate' ? { ...each, min: 1 } : each,
      ]),
    );

    // The changed package has the types alone, without all profiles of them.
    const isProfile = (path: string): boolean => /^(?:tables\/)?profiles\b/.test(path);
    const keysOf = (all: ReadonlyMap<string, string>) => [...all.keys()].filter((path) => !isProfile(path));
    expect(keysOf(after)).toEqual(keysOf(files));
    const paths = keysOf(after).filter((path) => after.get(path) !== files.get(path));
    expect(paths).toEqual(['docs/patient.md', 'manifest.json', 'tables/patient.ts', 'types/patient.ts']);
    const at = (path: string) => changeOf(files.get(path)!, after.get(path)!);
    expect(at('tables/patient.ts')).toEqual([
      ["{ name: 'birthDate', types: ['date'], summary: true },"],
      ["{ name: 'birthDate', types: ['date'], min: 1, summary: true },"],
    ]);
    expect(at('types/patient.ts')).toEqual([
      ['/** The date of birth for the individual — 0..1 date */'],
      ['/** The date of birth for the individual — 1..1 date */'],
    ]);
    const sum =
      /"sha256": "[0-9a-f]{64}"|"(docs|tables|types)\/patient\.(md|ts)": "[0-9a-f]{64}"|\s*"(tables\/)?profiles[^"]*": "[0-9a-f]{64}",?/g;
    const bare = (files: ReadonlyMap<string, string>): string => files.get('manifest.json')!.replaceAll(sum, '');
    expect(bare(after)).toBe(bare(files));
  });
});
