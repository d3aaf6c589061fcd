import { createHash } from 'node:crypto';
import { copyFileSync, mkdirSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import * as tar from 'tar';
import { projectRoot } from '../../generator/project-root.js';

/** Extensions and most profiles have a hyphen in their names; the model is made without them. */
const READ =
  /^(package|StructureDefinition-[A-Za-z0-9]+|(SearchParameter|OperationDefinition|CompartmentDefinition)-.*)\.json$/;

/** Copies what the model is made of from an installed package into `dir/package`. */
export function copyPackage(name: string, dir: string): string {
  const copy = join(dir, 'package');
  const source = join(projectRoot(), 'node_modules', name);
  mkdirSync(copy, { recursive: true });
  for (const file of readdirSync(source).filter((each) => READ.test(each)))
    copyFileSync(join(source, file), join(copy, file));
  return copy;
}

/** Changes a JSON file in place. */
export function changeJson<T>(file: string, change: (content: T) => T): void {
  const content = JSON.parse(readFileSync(file, 'utf8')) as T;
  writeFileSync(file, JSON.stringify(change(content)));
}

/** Packs folders or files of `dir`, by default its folder `package` as `npm pack` does. */
export function pack(dir: string, names: readonly string[] = ['package']): string {
  const file = join(dir, 'made.tgz');
  tar.create({ file, cwd: dir, gzip: { level: 1 }, sync: true, portable: true, preservePaths: true }, [...names]);
  return file;
}

/** A package of three small files, in `dir/package`. */
export function writeToyPackage(dir: string, name: string, version: string): string {
  const folder = join(dir, 'package');
  mkdirSync(folder, { recursive: true });
  writeFileSync(join(folder, 'package.json'), JSON.stringify({ name, version }));
  writeFileSync(join(folder, 'StructureDefinition-Toy.json'), '{}');
  writeFileSync(join(folder, 'SearchParameter-toy.json'), '{}');
  return folder;
}

/** Deletes what the generator unpacked of a tarball into the cache of this checkout. */
export function forgetUnpacked(file: string): void {
  const digest = createHash('sha256').update(readFileSync(file)).digest('hex');
  const cache = join(projectRoot(), 'node_modules/.cache/kiln-packages');
  rmSync(join(cache, `file-${digest.slice(0, 32)}`), { recursive: true, force: true });
}
