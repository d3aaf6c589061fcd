import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { gzipSync } from 'node:zlib';

/** A file of an archive, or a link in it. */
export interface ArchiveEntry {
  readonly path: string;
  readonly content?: string | Buffer;
  /** Of the tar header: `2` is a symbolic link. */
  readonly type?: string;
}

/** The path of a package of a guide beside this file. */
export function guideFile(name: string): string {
  return fileURLToPath(new URL(`${name}.tgz`, import.meta.url));
}

/** Bytes of an archive with just these entries, whatever their paths are. */
export function archive(entries: readonly ArchiveEntry[]): Buffer {
  const blocks = entries.flatMap(({ path, content = '', type = '0' }) => {
    const bytes = Buffer.from(content);
    return [header(path, bytes.length, type), bytes, Buffer.alloc((512 - (bytes.length % 512)) % 512)];
  });
  return gzipSync(Buffer.concat([...blocks, Buffer.alloc(1024)]));
}

/**
 * Writes a package with some resources.
 *
 * @param manifest what its manifest has beside `fhirVersions`
 * @returns the path of the archive
 */
export function makePackage(
  folder: string,
  manifest: { readonly name: string; readonly version: string } & Readonly<Record<string, unknown>>,
  resources: readonly object[] = [],
  more: readonly ArchiveEntry[] = [],
): string {
  const file = join(folder, `${manifest.name}-${manifest.version}.tgz`);
  mkdirSync(folder, { recursive: true });
  const entries = resources.map((each, i) => ({ path: `package/r${i}.json`, content: JSON.stringify(each) }));
  const content = JSON.stringify({ fhirVersions: ['5.0.0'], ...manifest });
  writeFileSync(file, archive([{ path: 'package/package.json', content }, ...entries, ...more]));
  return file;
}

/** A code system that says nothing. */
export function codeSystem(id: string, url: string, more: Readonly<Record<string, unknown>> = {}): object {
  return { resourceType: 'CodeSystem', id, url, version: '1.0.0', status: 'active', content: 'not-present', ...more };
}

/** https://pubs.opengroup.org/onlinepubs/9699919799/utilities/pax.html#tag_20_92_13_06 */
function header(path: string, size: number, type: string): Buffer {
  const block = Buffer.alloc(512);
  const octal = (value: number, at: number, length: number): void =>
    void block.write(`${value.toString(8).padStart(length - 1, '0')}\0`, at, 'latin1');
  block.write(path, 0, 100, 'utf8');
  octal(0o644, 100, 8);
  octal(0, 108, 8);
  octal(0, 116, 8);
  octal(size, 124, 12);
  octal(0, 136, 12);
  block.fill(0x20, 148, 156);
  block.write(type, 156, 'latin1');
  if (type === '2') block.write('/etc/passwd', 157, 'latin1');
  block.write('ustar\x0000', 257, 'latin1');
  const sum = block.reduce((total, byte) => total + byte, 0);
  block.write(`${sum.toString(8).padStart(6, '0')}\0 `, 148, 'latin1');
  return block;
}
