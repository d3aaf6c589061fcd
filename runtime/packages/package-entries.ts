import { createReadStream } from 'node:fs';
import { pipeline } from 'node:stream/promises';
import { createGunzip } from 'node:zlib';

import { formatSize } from '../config/setting.js';
import { untar } from '../cli/load/untar.js';
import { PackageRefused, type PackageFault } from './package-fault.js';

/** Bounds on a package: bytes, and a number of entries. */
export interface PackageLimits {
  readonly file: number;
  readonly unpacked: number;
  readonly entries: number;
  readonly resource: number;
}

/** Where the bytes of a package come from. They can be read again and again. */
export interface PackageSource {
  /** What messages call it. */
  readonly label: string;
  /** @param wanted paths whose content is read; a source may leave others out */
  open(wanted?: (path: string) => boolean): AsyncIterable<Buffer>;
}

/** The archive at a path. */
export function fileSource(path: string): PackageSource {
  return { label: path, open: () => createReadStream(path) };
}

/** A file of a package. Its path begins with `package/`. */
export interface PackageEntry {
  readonly path: string;
  readonly content: Buffer;
}

/** The first bytes of archives that the reader of tar archives would unpack by itself, uncounted: gzip and Zstandard. */
const PACKED_AGAIN = [Buffer.from([0x1f, 0x8b]), Buffer.from([0x28, 0xb5, 0x2f, 0xfd])];

/**
 * Reads the wanted files of a package, one at a time. Nothing is unpacked to disk. An entry that leads outside of the folder, a link, a
 * device and a path that is there twice are faults; all of them are found.
 * https://confluence.hl7.org/display/FHIR/NPM+Package+Specification
 *
 * @param wanted by path
 * @throws PackageRefused where it is no archive, is cut off, is above a limit, or has such an entry
 */
export async function* packageEntries(
  { label, open }: PackageSource,
  limits: PackageLimits,
  wanted: (path: string) => boolean,
): AsyncGenerator<PackageEntry> {
  const faults: PackageFault[] = [];
  const seen = new Set<string>();
  const inspect = ({ path, type }: { readonly path: string; readonly type: string }): void => {
    if (seen.size >= limits.entries) {
      throw refused(label, `has more than ${limits.entries} entries`, 'raise --limits-package-entries');
    }
    const fault = seen.has(path) ? 'this path is there twice' : faultOfEntry(path, type);
    seen.add(path);
    if (fault !== undefined) faults.push({ where: `${label}/${path}`, what: fault });
  };
  try {
    const counted = inflate(open(wanted), label, limits);
    const isWanted = (name: string): boolean => wanted(withoutDot(name));
    for await (const { name, content } of untar(counted, isWanted, limits.resource, inspect)) {
      if (content !== undefined) yield { path: withoutDot(name), content };
      else {
        const what = `is larger than ${formatSize(limits.resource)}`;
        faults.push({ where: `${label}/${name}`, what, remedy: 'raise --limits-package-resource' });
      }
    }
  } catch (error) {
    if (error instanceof PackageRefused) throw new PackageRefused([...faults, ...error.faults]);
    throw new PackageRefused([...faults, { where: label, what: explain(error) }]);
  }
  if (faults.length > 0) throw new PackageRefused(faults);
}

/** Unpacks gzip, and counts what comes out before anything is made of it. */
async function* inflate(raw: AsyncIterable<Buffer>, label: string, limits: PackageLimits): AsyncGenerator<Buffer> {
  const gunzip = createGunzip();
  // Whatever it fails with, reading fails with it, too.
  const feeding = pipeline(upTo(limits.file, raw, label), gunzip).catch(() => {});
  let unpacked = 0;
  let head: Buffer = Buffer.alloc(0);
  try {
    for await (const piece of gunzip as AsyncIterable<Buffer>) {
      const chunk = head.length > 0 ? Buffer.concat([head, piece]) : piece;
      const isFirst = unpacked === head.length;
      if (isFirst && PACKED_AGAIN.some((magic) => chunk.subarray(0, magic.length).equals(magic))) {
        throw refused(label, 'is no tar archive: what it unpacks to is packed again');
      }
      unpacked += piece.length;
      head = isFirst && chunk.length < 4 ? chunk : Buffer.alloc(0);
      if (head.length > 0) continue;
      if (unpacked > limits.unpacked) {
        const what = `unpacks to more than ${formatSize(limits.unpacked)}`;
        throw refused(label, what, 'raise --limits-package-unpacked if you trust it');
      }
      yield chunk;
    }
  } finally {
    gunzip.destroy();
    await feeding;
  }
}

async function* upTo(limit: number, raw: AsyncIterable<Buffer>, label: string): AsyncGenerator<Buffer> {
  let read = 0;
  for await (const chunk of raw) {
    read += chunk.length;
    if (read > limit) throw refused(label, `is larger than ${formatSize(limit)}`, 'raise --limits-package-file');
    yield chunk;
  }
}

function refused(where: string, what: string, remedy?: string): PackageRefused {
  return new PackageRefused([{ where, what, ...(remedy !== undefined && { remedy }) }]);
}

/** Entries that hold nothing that could lead elsewhere. */
const HARMLESS: ReadonlySet<string> = new Set(['File', 'OldFile', 'ContiguousFile', 'Directory', 'GNUDumpDir']);

function faultOfEntry(path: string, type: string): string | undefined {
  if (!HARMLESS.has(type)) return `is no file but a ${type}`;
  if (path.includes('\\')) return 'a path has no backslash';
  if (path.startsWith('/') || /^[A-Za-z]:/.test(path)) return 'leads outside of the package: it is absolute';
  if (path.split('/').includes('..')) return 'leads outside of the package';
  return undefined;
}

function withoutDot(name: string): string {
  return name.replace(/^(?:\.\/)+/, '');
}

/** What the readers of gzip and tar found, in our words. */
function explain(error: unknown): string {
  const { code, message } = error as NodeJS.ErrnoException;
  if (code === 'Z_BUF_ERROR') return 'is cut off: the gzip stream ends too early';
  if (code?.startsWith('Z_') === true) return 'is no gzip archive';
  if (code === 'ENOENT') return 'there is no such file';
  if (code === 'EISDIR') return 'is a folder; give the archive (.tgz)';
  return message;
}
