import { stat } from 'node:fs/promises';

import { ConfigError } from '../config/config-error.js';
import { isMongoUrl } from '../config/mongo-url.js';
import { readConfig, type Flags } from '../config/read-config.js';
import type { Config } from '../config/settings.js';
import { formatSize } from '../config/setting.js';
import { sqlitePathOf, whyNoSqlitePath } from '../store/sqlite-path.js';
import { runCopy } from './copy.js';
import { backUpMongo } from './copy/back-up-mongo.js';
import { compareBlobs } from './copy/compare-others.js';
import { stopOnSignal, stoppedBy, type StopSignal } from './stop-on-signal.js';
import { EXIT, failed, messageOf, type Terminal } from './terminal.js';

/**
 * `kiln backup FILE`: a SQLite file that holds a store as it is at one instant, while servers use it.
 *
 * @returns the exit code
 * @throws ConfigError
 */
export async function runBackup(file: string, flags: Flags, terminal: Terminal): Promise<number> {
  const config = readStoreConfig(flags, terminal);
  const stop = stopOnSignal();
  try {
    if (await isThere(file)) throw new Error(`${file} is there already; a backup goes into a new file`);
    const start = performance.now();
    if (isMongoUrl(config.store)) {
      const fault = whyNoSqlitePath(file);
      if (fault !== undefined) throw new Error(`the name of a backup, ${JSON.stringify(file)}, ${fault}`);
      await backUpMongo(file, config, terminal, stop.signal);
    } else {
      if (!(await isThere(sqlitePathOf(config.store)))) throw new Error(`there is no store at ${config.store}`);
      await (await import('../server.js')).backUpSqlite(config.store, file);
    }
    await tellSize(file, start, terminal);
    return EXIT.done;
  } catch (error) {
    if (!stop.signal.aborted || error !== stop.signal.reason) return failed(error, terminal);
    return stoppedBy(error as StopSignal, 'no backup was made', terminal);
  } finally {
    stop.forget();
  }
}

/**
 * `kiln restore FILE`: puts a backup into a store that is empty, or not there yet, and reads it once more there. Into MongoDB it is
 * `kiln copy`: what was stopped goes on when it is run again.
 *
 * @returns the exit code
 * @throws ConfigError
 */
export async function runRestore(file: string, flags: Flags, terminal: Terminal): Promise<number> {
  const config = readStoreConfig(flags, terminal);
  try {
    if (!(await stat(file).catch(() => undefined))?.size) throw new Error(`there is no backup at ${file}`);
    if (isMongoUrl(config.store)) {
      const { checkBackup } = await import('../server.js');
      await checkBackup(file).catch((error: unknown) => {
        throw new Error(`${file} was not restored: ${messageOf(error)}`, { cause: error });
      });
      return await runCopy({ from: `sqlite:${file}`, to: config.store, isRestore: true }, {}, terminal);
    }
    const path = sqlitePathOf(config.store);
    for (const end of ['', '-wal', '-shm']) {
      if (await isThere(`${path}${end}`)) throw new Error(`${path}${end} is there already; restore into a new file`);
    }
    const start = performance.now();
    const { restoreSqlite } = await import('../server.js');
    const store = await restoreSqlite(file, config.store).catch((error: unknown) => {
      throw new Error(`${file} was not restored: ${messageOf(error)}`, { cause: error });
    });
    try {
      const { differences, first = '' } = await compareBlobs(store.blobs, store.blobs, new AbortController().signal);
      if (differences > 0) throw new Error(`${path}: ${differences} contents are damaged; the first: ${first}`);
      terminal.out(`${(await store.history({ count: 0 })).total} versions`);
    } finally {
      await store.close();
    }
    await tellSize(path, start, terminal);
    return EXIT.done;
  } catch (error) {
    return failed(error, terminal);
  }
}

function readStoreConfig(flags: Flags, terminal: Terminal): Config {
  const { config } = readConfig(flags, terminal.env);
  if (config.store === 'sqlite::memory:') throw new ConfigError('a memory store is empty; name a file with --store');
  return config;
}

async function isThere(file: string): Promise<boolean> {
  return (await stat(file).catch(() => undefined)) !== undefined;
}

async function tellSize(file: string, start: number, terminal: Terminal): Promise<void> {
  const seconds = ((performance.now() - start) / 1000).toFixed(1);
  terminal.out(`${file}: ${formatSize((await stat(file)).size)} in ${seconds} s`);
}
