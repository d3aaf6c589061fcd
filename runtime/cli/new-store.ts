import { resolve } from 'node:path';

import { isMongoUrl } from '../config/mongo-url.js';
import type { Config } from '../config/settings.js';
import { sqlitePathOf } from '../store/sqlite-path.js';
import type { Terminal } from './terminal.js';

/** Says that a command makes a SQLite file: a mistyped `--store` would make one silently. */
export function tellNewStore(
  { store }: Pick<Config, 'store'>,
  exists: (store: string) => boolean,
  terminal: Pick<Terminal, 'err'>,
): void {
  if (isMongoUrl(store) || store === 'sqlite::memory:' || exists(store)) return;
  terminal.err(`kiln: new store at ${resolve(sqlitePathOf(store))}`);
}
