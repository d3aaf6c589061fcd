import { stat } from 'node:fs/promises';

import { ConfigError } from '../config/config-error.js';
import { isMongoUrl } from '../config/mongo-url.js';
import { readConfig, type Flags } from '../config/read-config.js';
import { formatSize } from '../config/setting.js';
import { sqlitePathOf } from '../store/sqlite-path.js';
import { EXIT, failed, type Terminal } from './terminal.js';

/**
 * `kiln backup FILE`: a copy of a SQLite store, of one instant, while servers use it. To restore it, serve it (or put it in
 * the place of the old file, while no server runs, and without the `-wal` and `-shm` files of the old one).
 *
 * @returns the exit code
 * @throws ConfigError
 */
export async function runBackup(file: string, flags: Flags, terminal: Terminal): Promise<number> {
  const { config } = readConfig(flags, terminal.env);
  if (config.store === 'sqlite::memory:') throw new ConfigError('a memory store is empty; name a file with --store');
  if (isMongoUrl(config.store)) {
    throw new ConfigError('a backup of MongoDB is what mongodump makes, or: kiln copy --from URL --to sqlite:FILE');
  }
  try {
    if ((await stat(file).catch(() => undefined)) !== undefined) {
      throw new Error(`${file} is there already; a backup goes into a new file`);
    }
    if ((await stat(sqlitePathOf(config.store)).catch(() => undefined)) === undefined) {
      throw new Error(`there is no store at ${config.store}`);
    }
    const { backUpSqlite } = await import('../server.js');
    const start = performance.now();
    await backUpSqlite(config.store, file);
    const seconds = ((performance.now() - start) / 1000).toFixed(1);
    terminal.out(`${file}: ${formatSize((await stat(file)).size)} in ${seconds} s`);
    return EXIT.done;
  } catch (error) {
    return failed(error, terminal);
  }
}
