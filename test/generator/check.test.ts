import { appendFileSync, mkdirSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { join, relative } from 'node:path';
import { afterEach, beforeAll, beforeEach, describe, expect, it, vi } from 'vitest';
import { runGenerate, type GenerateCommand } from '../../generator/cli.js';
import type * as Generate from '../../generator/generate.js';
import { makeFiles, makeModel } from '../../generator/generate.js';
import type * as ProjectRoot from '../../generator/project-root.js';
import type { Model } from '../../generator/model/model.js';
import { compare, listFiles, write } from '../../generator/write.js';
import { PATIENCE, readTree, runKiln, temporaryFolders } from './command.js';

// The command as it is, but for the four seconds that making the same files again would take each time.
const made = vi.hoisted(() => ({ model: undefined as unknown, files: undefined as unknown, own: '', root: '' }));
vi.mock('../../generator/generate.js', async (original) => {
  const real = await original<typeof Generate>();
  return {
    ...real,
    makeModel: async () => (made.model ??= await real.makeModel()),
    makeGuided: async () => ({ model: (made.model ??= await real.makeModel()), guides: [], withoutEffect: [] }),
    makeFiles: (model: Model) => (made.files ??= real.makeFiles(model)),
    outputFolder: (out: string | undefined) => out ?? made.own,
  };
});

// The project whose build is looked at; empty: this one.
vi.mock('../../generator/project-root.js', async (original) => {
  const real = await original<typeof ProjectRoot>();
  return { projectRoot: () => made.root || real.projectRoot() };
});

const newFolder = temporaryFolders();
let files: ReadonlyMap<string, string>;
beforeAll(async () => {
  files = makeFiles(await makeModel());
}, PATIENCE);

let out = '';
let err = '';
beforeEach(() => {
  out = err = '';
  vi.spyOn(process.stdout, 'write').mockImplementation((text) => ((out += String(text)), true));
  vi.spyOn(process.stderr, 'write').mockImplementation((text) => ((err += String(text)), true));
});
afterEach(() => {
  made.root = '';
  vi.restoreAllMocks();
});

/** A folder that is current. */
function current(): string {
  const dir = join(newFolder('check'), 'generated');
  write(dir, files, compare(dir, files));
  return dir;
}

/** Paths, contents and times: what writing anything would change. */
const stateOf = (dir: string): unknown =>
  listFiles(dir).map((path) => [path, statSync(join(dir, path)).mtimeMs, readFileSync(join(dir, path)).length]);

function edit(dir: string, path: string, from: string, to: string): void {
  const file = join(dir, path);
  writeFileSync(file, readFileSync(file, 'utf8').replace(from, to));
}

/** Each of what may be wrong, once. */
function spoil(dir: string): void {
  edit(dir, 'tables/patient.ts', "name: 'birthDate'", "name: 'birthdate'");
  rmSync(join(dir, 'types/patient.ts'));
  mkdirSync(join(dir, 'old/older'), { recursive: true });
  writeFileSync(join(dir, 'old/older/notes.txt'), 'mine');
  writeFileSync(join(dir, 'tables/observation.ts.kiln-tmp'), 'half a file');
}

describe('kiln generate --check', () => {
  it('says nothing but that a current folder is current, exit code 0', async () => {
    const dir = current();
    expect(await runGenerate({ check: true, out: dir })).toBe(0);
    expect({ out, err }).toEqual({ out: `${String(files.size)} files are current\n`, err: '' });
  });

  it(
    'names each changed character, missing file and stray file with line and remedy, exit code 1, and writes nothing',
    { timeout: PATIENCE },
    async () => {
      const dir = current();
      spoil(dir);
      const before = stateOf(dir);
      // The real command, as a process of its own; elsewhere, where it makes the same bytes all the same.
      const ended = await runKiln(['generate', '--check', '--out', dir], {
        preload: ['reversed-listing.ts'],
        env: { TZ: 'America/St_Johns', LANG: 'de_DE.UTF-8', LC_ALL: 'de_DE.UTF-8' },
      });
      const shown = relative(process.cwd(), dir);
      const lines = files.get('tables/patient.ts')!.split('\n');
      const line = lines.findIndex((text) => text.includes("name: 'birthDate'"));
      expect(ended).toMatchObject({ code: 1, out: '' });
      expect(ended.err.trimEnd().split('\n')).toEqual([
        `${shown}/old/older/notes.txt: stray: the definitions do not make this file`,
        `${shown}/tables/observation.ts.kiln-tmp: stray: the definitions do not make this file`,
        `${shown}/tables/patient.ts:${String(line + 1)}: changed`,
        `  found    ${lines[line]!.replace('birthDate', 'birthdate')}`,
        `  expected ${lines[line]!}`,
        `${shown}/types/patient.ts: missing`,
        `4 of ${String(files.size)} files are not current. To mend: npx kiln generate --out ${dir}`,
      ]);
      expect(stateOf(dir)).toEqual(before);
    },
  );

  it('shows the place of a change also in a long line, and characters that a screen does not', async () => {
    const dir = current();
    const long = files
      .get('tables/operations.table.ts')!
      .split('\n')
      .find((text) => text.length > 1000)!;
    edit(dir, 'tables/operations.table.ts', long, `${long.slice(0, -30)}\u00A0${long.slice(-30)}`);
    edit(dir, 'tables/patient.ts', '\n', '\r\n');
    edit(dir, 'types/patient.ts', '\n', ' \n');
    expect(await runGenerate({ check: true, out: dir })).toBe(1);
    const texts = err.split('\n').filter((text) => /^ {2}(found|expected)/.test(text));
    expect(texts).toHaveLength(6);
    expect(texts[0]!.length).toBeLessThan(200);
    for (const index of [0, 2, 4]) {
      expect(texts[index]!.replace('found   ', '')).not.toBe(texts[index + 1]!.replace('expected', ''));
    }
    expect(texts[0]).toContain('\\u{a0}');
    expect(texts[2]).toMatch(/\.\\u\{d\}$/);
    expect(texts[4]).toMatch(/\.\\u\{20\}$/);
  });

  it('finds everything missing where there is no folder', async () => {
    const dir = join(newFolder('check'), 'nothing');
    expect(await runGenerate({ check: true, out: dir })).toBe(1);
    expect(err).toContain(`${String(files.size)} of ${String(files.size)} files are not current`);
    expect(listFiles(dir)).toEqual([]);
  });

  it('names the remedy for what was asked: package and folder, or none', async () => {
    const dir = current();
    appendFileSync(join(dir, 'tables.ts'), '\n');
    const remedyOf = async (command: GenerateCommand): Promise<string | undefined> => {
      err = '';
      await runGenerate({ ...command, check: true });
      return /To mend: (.*)/.exec(err)?.[1];
    };
    expect(await remedyOf({ out: dir })).toBe(`npx kiln generate --out ${dir}`);
    expect(await remedyOf({ out: dir, package: 'a@1.0.0' })).toBe(`npx kiln generate --package a@1.0.0 --out ${dir}`);
  });
});

describe('kiln generate', () => {
  it('mends all of it: writes what changed or is missing, deletes strays with their folders', async () => {
    const dir = current();
    spoil(dir);
    expect(await runGenerate({ out: dir })).toBe(0);
    expect(out).toBe(`${String(files.size)} files, 2 written, 2 deleted\n`);
    expect(readTree(dir)).toEqual(files);
    expect(listFiles(dir).some((path) => path.startsWith('old'))).toBe(false);
    expect(await runGenerate({ check: true, out: dir })).toBe(0);
  });

  it('writes into a new folder and an empty one', async () => {
    const empty = newFolder('check');
    const fresh = join(empty, 'a/b');
    expect(await runGenerate({ out: fresh })).toBe(0);
    expect(readTree(fresh)).toEqual(files);
    rmSync(join(empty, 'a'), { recursive: true });
    expect(await runGenerate({ out: empty })).toBe(0);
    expect(readTree(empty)).toEqual(files);
  });

  it('mends our own folder also where its manifest is gone: what is in it is no one else’s', async () => {
    made.own = current();
    rmSync(join(made.own, 'manifest.json'));
    expect(await runGenerate({ check: true })).toBe(1);
    expect(err).toMatch(/manifest\.json: missing\n1 of \d+ files are not current\. To mend: npm run generate\n$/);
    expect(await runGenerate({})).toBe(0);
    expect(readTree(made.own)).toEqual(files);
  });

  it('does not call tables current that dist/ was not built with: they did not apply', async () => {
    made.own = current();
    made.root = newFolder('root');
    expect(await runGenerate({ check: true }), 'no build').toBe(0);
    const built = join(made.root, 'dist', 'generated');
    mkdirSync(built, { recursive: true });
    writeFileSync(join(built, 'manifest.json'), files.get('manifest.json')!);
    expect(await runGenerate({ check: true }), 'a current build').toBe(0);
    edit(built, 'manifest.json', '"contract": 1', '"contract": 0');
    expect(await runGenerate({ check: true }), 'an older build').toBe(1);
    expect(err).toBe('dist/ was built with other tables. To mend: npm run build\n');
  });

  it('mends a manifest that was changed', async () => {
    const dir = current();
    edit(dir, 'manifest.json', '"contract": 1', '"contract": 9');
    expect(await runGenerate({ out: dir })).toBe(0);
    expect(readTree(dir)).toEqual(files);
  });

  it.each<[string, (dir: string) => void]>([
    ['holds files of someone', (dir) => writeFileSync(join(dir, 'thesis.txt'), 'x')],
    ['holds the manifest of a web application', (dir) => writeFileSync(join(dir, 'manifest.json'), '{"name":"App"}')],
  ])('refuses a folder that %s, and deletes nothing there', async (_title, fill) => {
    const dir = newFolder('check');
    fill(dir);
    const before = stateOf(dir);
    expect(await runGenerate({ out: dir })).toBe(1);
    expect(err).toBe(`--out ${dir}: not empty and without a manifest.json of kiln; name a new or empty folder\n`);
    expect(stateOf(dir)).toEqual(before);
  });

  it('refuses a file in place of a folder', async () => {
    const file = join(newFolder('check'), 'file');
    writeFileSync(file, 'x');
    for (const check of [false, true]) {
      err = '';
      expect(await runGenerate({ out: file, check })).toBe(1);
      expect(err).toBe(`--out ${file}: is not a folder\n`);
    }
  });
});
