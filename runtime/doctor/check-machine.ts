import { statSync, statfsSync } from 'node:fs';
import { dirname, resolve } from 'node:path';

import { developmentKeyFile } from '../config/development.js';
import { isMongoUrl } from '../config/mongo-url.js';
import type { Config } from '../config/settings.js';
import { sqlitePathOf } from '../store/sqlite-path.js';
import { reportOf, type Finding } from './finding.js';

/** Less free space than this is a warning: a journal and a backup have to fit. In bytes. */
const LITTLE_SPACE = 1024 ** 3;

/** Less than this is a fault: writes may fail at any time. In bytes. */
const NO_SPACE = 100 * 1024 ** 2;

/** Bits of a file's mode: others may read it, or write it. */
const [OTHERS_READ, OTHERS_WRITE] = [0o044, 0o022];

/** Returns the path of the SQLite store of a configuration; undefined: it has none that stays. */
export function fileOf({ store }: Pick<Config, 'store'>): string | undefined {
  return isMongoUrl(store) || store === 'sqlite::memory:' ? undefined : resolve(sqlitePathOf(store));
}

/** Judges the free space beside a store that has a size; both in bytes. */
export function judgeSpace(free: number, size: number): Finding {
  const report = reportOf('disk');
  const text = `${gigabytes(free)} are free beside a store of ${gigabytes(size)}`;
  if (free < NO_SPACE) return report.fault(text, 'make room, or move the store to a larger disk');
  if (free < Math.max(LITTLE_SPACE, size)) {
    return report.warning(text, 'make room: a backup beside the store takes as much as the store');
  }
  return report.fine(text);
}

/** Checks the disk that a SQLite store is on. */
export function checkDisk(file: string): Finding {
  const { bavail, bsize } = statfsSync(dirname(file));
  return judgeSpace(bavail * bsize, statSync(file).size);
}

/** Checks who may read and write the files of a configuration: the store, and private keys. */
export function checkFiles(config: Config): Finding[] {
  const report = reportOf('files');
  if (process.platform === 'win32') return [report.unknown('the rights of files are not looked at on Windows')];
  const store = fileOf(config);
  const files = [
    ...(store === undefined ? [] : [['the store', store] as const]),
    ...(store === undefined
      ? []
      : [['the key of the development client', resolve(developmentKeyFile(config))] as const]),
    ...(config['tls-key'] === undefined ? [] : [['the private key', resolve(config['tls-key'])] as const]),
  ];
  const found = files.flatMap(([name, file]): Finding[] => {
    const mode = statSync(file, { throwIfNoEntry: false })?.mode;
    if (mode === undefined) return [];
    if ((mode & OTHERS_WRITE) !== 0) return [report.fault(`others may write ${name} (${file})`, `chmod 600 ${file}`)];
    if ((mode & OTHERS_READ) !== 0) return [report.fault(`others may read ${name} (${file})`, `chmod 600 ${file}`)];
    return [];
  });
  return found.length > 0 ? found : [report.fine('no file of the server is open to others')];
}

function gigabytes(bytes: number): string {
  return `${(bytes / 1024 ** 3).toFixed(2)} GiB`;
}
