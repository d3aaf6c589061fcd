import { mkdirSync, readdirSync, readFileSync, renameSync, statSync, symlinkSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { compare, listFiles, write, type Difference } from '../../generator/write.js';
import { PATIENCE, readTree, runFile, temporaryFolders } from './command.js';
import { manyFiles } from './many-files.js';

const newFolder = temporaryFolders();
const files = new Map([
  ['a.ts', 'one\ntwo\nthree\n'],
  ['deep/er/b.ts', 'b\n'],
  ['manifest.json', '{}\n'],
]);

/** A folder that is current. */
function current(): string {
  const dir = newFolder('write');
  write(dir, files, compare(dir, files));
  return dir;
}

/** How a folder differs after a change, and that writing mends it. */
function differencesAfter(change: (dir: string) => void): readonly Difference[] {
  const dir = current();
  change(dir);
  const differences = compare(dir, files);
  write(dir, files, differences);
  expect(readTree(dir)).toEqual(files);
  expect(compare(dir, files)).toEqual([]);
  return differences;
}

describe('compare', () => {
  it('finds nothing in a current folder, and everything missing from one that is not there', () => {
    expect(compare(current(), files)).toEqual([]);
    expect(compare(join(newFolder('write'), 'nothing'), files).map(({ kind }) => kind)).toEqual(
      Array(3).fill('missing'),
    );
  });

  it('names the first line that differs, and both texts', () => {
    const changed = differencesAfter((dir) => writeFileSync(join(dir, 'a.ts'), 'one\ntWo\nthree\n'));
    expect(changed).toEqual([{ path: 'a.ts', kind: 'changed', line: 2, found: 'tWo', expected: 'two' }]);
  });

  it.each<[string, string, Partial<Difference>]>([
    ['a line too few', 'one\ntwo\n', { line: 3, found: '', expected: 'three' }],
    ['a line too many', 'one\ntwo\nthree\nfour\n', { line: 4, found: 'four', expected: '' }],
    ['no newline at the end', 'one\ntwo\nthree', { line: 4, found: '(end of file)', expected: '' }],
    ['a carriage return', 'one\r\ntwo\nthree\n', { line: 1, found: 'one\r', expected: 'one' }],
    ['a byte order mark', '\uFEFFone\ntwo\nthree\n', { line: 1, found: '\uFEFFone', expected: 'one' }],
    ['nothing', '', { line: 1, found: '', expected: 'one' }],
  ])('sees %s', (_title, text, expected) => {
    expect(differencesAfter((dir) => writeFileSync(join(dir, 'a.ts'), text))[0]).toMatchObject(expected);
  });

  it('names what is missing and what is astray, in code-point order', () => {
    const found = differencesAfter((dir) => {
      renameSync(join(dir, 'a.ts'), join(dir, 'Z.ts'));
      writeFileSync(join(dir, 'deep/a.ts'), '');
    });
    expect(found.map(({ path, kind }) => `${path} ${kind}`)).toEqual(['Z.ts stray', 'a.ts missing', 'deep/a.ts stray']);
  });
});

describe('write', () => {
  it('deletes strays with the folders that they leave empty, and only those', () => {
    differencesAfter((dir) => {
      mkdirSync(join(dir, 'old/older'), { recursive: true });
      writeFileSync(join(dir, 'old/older/x.ts'), '');
      writeFileSync(join(dir, 'deep/x.ts'), '');
    });
    const dir = current();
    mkdirSync(join(dir, 'old/older'), { recursive: true });
    writeFileSync(join(dir, 'old/older/x.ts'), '');
    write(dir, files, compare(dir, files));
    expect(readdirSync(dir)).toEqual(['a.ts', 'deep', 'manifest.json']);
  });

  it('puts a file where a folder stood, and a folder where a file stood', () => {
    const dir = current();
    const turned = new Map([
      ['a.ts/b.ts', 'b\n'],
      ['deep', 'a\n'],
      ['manifest.json', '{}\n'],
    ]);
    write(dir, turned, compare(dir, turned));
    expect(readTree(dir)).toEqual(turned);
  });

  it('deletes a link that is astray, not what it points to', () => {
    const elsewhere = newFolder('write');
    writeFileSync(join(elsewhere, 'precious'), 'x');
    differencesAfter((dir) => symlinkSync(elsewhere, join(dir, 'link')));
    expect(readdirSync(elsewhere)).toEqual(['precious']);
  });

  it('leaves what is as it should be untouched', () => {
    const dir = current();
    const { mtimeMs, ino } = statSync(join(dir, 'a.ts'));
    writeFileSync(join(dir, 'deep/er/b.ts'), 'x');
    write(dir, files, compare(dir, files));
    expect(statSync(join(dir, 'a.ts'))).toMatchObject({ mtimeMs, ino });
    expect(readFileSync(join(dir, 'deep/er/b.ts'), 'utf8')).toBe('b\n');
  });

  it(
    'killed at any file leaves whole files only, the manifest first; the next run mends and clears up',
    { timeout: PATIENCE },
    async () => {
      const dir = newFolder('write');
      const killed = await runFile('test/generator/write-many.ts', [dir], {
        preload: ['kill-at-rename.ts'],
        env: { KILN_TEST_KILL_AT_RENAME: '5' },
      });
      expect(killed.signal).toBe('SIGKILL');
      const left = listFiles(dir);
      const leftovers = left.filter((path) => path.endsWith('.kiln-tmp'));
      expect(left).toContain('manifest.json');
      expect(left.length - leftovers.length).toBe(4);
      expect(leftovers).toHaveLength(1);
      const many = manyFiles();
      for (const path of left)
        expect(readFileSync(join(dir, path), 'utf8')).toBe(many.get(path.replace('.kiln-tmp', '')));

      const differences = compare(dir, many);
      expect(differences.filter(({ kind }) => kind === 'stray').map(({ path }) => path)).toEqual(leftovers);
      expect(differences.filter(({ kind }) => kind === 'missing')).toHaveLength(6);
      expect(differences).toHaveLength(7);
      write(dir, many, differences);
      expect(readTree(dir)).toEqual(many);
    },
  );
});
