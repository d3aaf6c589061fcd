import type { AtomicMaps } from '../../store/store.js';
import { createFresh } from '../keys/fresh.js';
import { readClient, type Client } from './client.js';
import { CLIENTS_MAP } from './client-register.js';

/** Finds clients for requests. */
export interface ClientReader {
  /** As it was `AGE` ago at most; undefined: there is none. */
  find(id: string): Promise<Client | undefined>;
}

const MOST = 2000;
/** Longer ones are never registered. */
const MAX_ID = 255;

interface Read {
  readonly text: string;
  readonly client: Client;
}

/**
 * @param noClients ids that are no client's here, whatever the register says
 * @param now the clock, in milliseconds
 */
export function createClientReader(
  maps: AtomicMaps,
  noClients: ReadonlySet<string>,
  now: () => number = Date.now,
): ClientReader {
  /** What was parsed last, so that keys that did not change are the same objects and stay imported. */
  let parsed = new Map<string, Read>();
  const texts = createFresh((id) => maps.get(CLIENTS_MAP, id), MOST, now);
  return {
    async find(id) {
      if (id === '' || id.length > MAX_ID || noClients.has(id)) return undefined;
      const text = await texts.get(id);
      if (text === undefined) return undefined;
      const known = parsed.get(id);
      if (known?.text === text) return known.client;
      if (parsed.size >= MOST) parsed = new Map();
      const client = readClient(text);
      parsed.set(id, { text, client });
      return client;
    },
  };
}
