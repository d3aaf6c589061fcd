import type { Zone } from '../../indexing/values/zone.js';
import type { Config } from '../../config/settings.js';
import { ConfigError } from '../../config/config-error.js';
import type { Tables } from '../../contract/index.js';
import type { AtomicMaps } from '../../store/store.js';
import { EXIT, failed, type Terminal } from '../terminal.js';
import { tellNewStore } from '../new-store.js';

/** A store that is open for what concerns clients and keys. */
export interface AuthStore {
  readonly maps: AtomicMaps;
  readonly tables: Tables;
  readonly zone: Zone;
}

/**
 * Does something to the clients or keys in the store of a configuration.
 *
 * @param isMade whether the store may be made for it
 * @returns the exit code: 1 where it was refused or failed, which is reported in one line
 * @throws ConfigError for a memory store, which ends with its process
 */
export async function withAuthStore(
  config: Config,
  isMade: boolean,
  terminal: Pick<Terminal, 'err'>,
  action: (store: AuthStore) => Promise<void>,
): Promise<number> {
  if (config.store === 'sqlite::memory:') {
    throw new ConfigError(
      'a memory store ends with this command; name another with --store, or give serve clients with the setting clients',
    );
  }
  let close = (): Promise<void> => Promise.resolve();
  try {
    const { openMaps, storeExists } = await import('../../server.js');
    if (isMade) tellNewStore(config, storeExists, terminal);
    const opened = await openMaps(config, { existing: !isMade });
    close = opened.close;
    await action(opened);
    return EXIT.done;
  } catch (error) {
    return failed(error, terminal);
  } finally {
    await close();
  }
}
