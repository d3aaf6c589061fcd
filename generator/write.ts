import { existsSync, mkdirSync, readdirSync, readFileSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import { dirname, join, resolve, sep } from 'node:path';
import { MANIFEST } from './emit/manifest.js';
import { GeneratorError } from './generator-error.js';

/** Differences between the output folder and the generated files. Paths are relative to it, in code-point order. */
export interface Difference {
  readonly path: string;
  readonly kind: 'changed' | 'missing' | 'stray';
  /** For `changed`: the number of the first line that differs, from 1, with its actual and its generated text. */
  readonly line?: number;
  readonly found?: string;
  readonly expected?: string;
}

/** Compares the folder with the files by bytes. */
export function compare(dir: string, files: ReadonlyMap<string, string>): Difference[] {
  const present = new Set(listFiles(dir));
  const differences: Difference[] = [];
  for (const [path, text] of files) {
    if (!present.delete(path)) differences.push({ path, kind: 'missing' });
    else {
      const bytes = readFileSync(join(dir, path));
      if (!bytes.equals(Buffer.from(text)))
        differences.push({ path, kind: 'changed', ...firstDifference(bytes.toString('utf8'), text) });
    }
  }
  for (const path of present) differences.push({ path, kind: 'stray' });
  return differences.sort((a, b) => (a.path < b.path ? -1 : 1));
}

/**
 * Makes the folder equal to the files: deletes other files and emptied folders, and writes changed files.
 *
 * The manifest, which marks the folder as the generator's, is written first, so that an interrupted run can be repeated.
 */
export function write(dir: string, files: ReadonlyMap<string, string>, differences: readonly Difference[]): void {
  const root = resolve(dir) + sep;
  for (const { path } of differences) {
    // Type names were checked when the package was read; this is the last check before writing.
    if (!resolve(dir, path).startsWith(root)) throw new GeneratorError(`${path}: would be outside ${dir}`);
  }
  const strays = differences.filter(({ kind }) => kind === 'stray');
  const others = differences.filter(({ kind }) => kind !== 'stray');
  for (const { path } of strays) {
    rmSync(join(dir, path));
    removeEmptyFolders(dir, dirname(path));
  }
  for (const { path } of [...others].sort((a, b) => Number(b.path === MANIFEST) - Number(a.path === MANIFEST))) {
    const target = join(dir, path);
    mkdirSync(dirname(target), { recursive: true });
    // Written to a temporary file and renamed, so that an interrupted run leaves only complete files.
    const temporary = `${target}.kiln-tmp`;
    writeFileSync(temporary, files.get(path) ?? '');
    renameSync(temporary, target);
  }
}

/** Paths of the files below a folder, with `/` between names; none if the folder does not exist. */
export function listFiles(dir: string): string[] {
  if (!existsSync(dir)) return [];
  return readdirSync(dir, { recursive: true, withFileTypes: true })
    .filter((entry) => !entry.isDirectory())
    .map((entry) =>
      join(entry.parentPath, entry.name)
        .slice(dir.length + 1)
        .replaceAll('\\', '/'),
    )
    .sort();
}

function removeEmptyFolders(dir: string, folder: string): void {
  for (let path = folder; path !== '.'; path = dirname(path)) {
    if (readdirSync(join(dir, path)).length > 0) return;
    rmSync(join(dir, path), { recursive: true });
  }
}

function firstDifference(found: string, expected: string): Pick<Difference, 'line' | 'found' | 'expected'> {
  const have = found.split('\n');
  const want = expected.split('\n');
  let line = 0;
  while (line < have.length && line < want.length && have[line] === want[line]) line++;
  return { line: line + 1, found: have[line] ?? '(end of file)', expected: want[line] ?? '(end of file)' };
}
