import { tables } from '../generated/tables.js';
import type { ServeConfig } from './config.js';
import { CONTRACT_VERSION } from './contract/index.js';
import { createApp, FHIR_PATH } from './http/app.js';
import { listen } from './http/listen.js';
import type { Services } from './interactions/services.js';
import type { Log } from './observe/log.js';
import { createExtractor } from './search/extract.js';
import { openSqliteStore } from './store/sqlite/sqlite-store.js';

/** What works with data, with or without HTTP around it. */
export type Core = Pick<Services, 'tables' | 'store' | 'extract'>;

/**
 * The composition root: generated tables, and the store behind a URL.
 *
 * @param storeUrl as `readServeConfig` has checked it
 * @throws Error where the tables are of another contract or the store cannot be opened
 */
export function openCore(storeUrl: string): Core {
  if (tables.origin.contract !== CONTRACT_VERSION) {
    throw new Error(
      `generated/ has version ${tables.origin.contract} of the contract, the runtime ${CONTRACT_VERSION}; run: npm run generate`,
    );
  }
  return { tables, store: openSqliteStore(storeUrl), extract: createExtractor(tables) };
}

/** A server that runs. */
export interface RunningServer {
  /** URL of the FHIR base. */
  readonly url: string;
  /** Lets requests in progress end, then closes the store. */
  close(): Promise<void>;
}

/**
 * Starts a server.
 *
 * @throws Error where the store cannot be opened or the address not be listened on
 */
export async function startServer(config: ServeConfig, log: Log): Promise<RunningServer> {
  const core = openCore(config.store);
  try {
    const server = await listen(createApp({ ...core, log }), config.host, config.port);
    return {
      url: server.url + FHIR_PATH,
      async close() {
        await server.close();
        await core.store.close();
      },
    };
  } catch (error) {
    await core.store.close();
    throw error;
  }
}
