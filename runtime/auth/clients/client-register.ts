import { randomBytes } from 'node:crypto';

import type { AtomicMaps } from '../../store/store.js';
import { readClient, writeClient, type Client } from './client.js';
import { ClientRefused, readRegistration, type RegistrationRules } from './registration.js';

/** The map in the store that holds the clients, by id. */
export const CLIENTS_MAP = 'auth-clients';

const TRIES = 20;

/** The register of clients, in the store. Every change is one atomic step. For the commands `kiln client …`. */
export interface ClientRegister {
  /**
   * @param replace whether a client of this id may be there already
   * @throws ClientRefused
   */
  add(registration: unknown, replace?: boolean): Promise<Client>;
  /** As it is now; undefined: there is none. */
  find(id: string): Promise<Client | undefined>;
  /** In the order of their ids. */
  list(): Promise<readonly Client[]>;
  /** @throws ClientRefused where there is no such client */
  enable(id: string): Promise<Client>;
  /** Its tokens are good for nothing from now on. @throws ClientRefused */
  disable(id: string): Promise<Client>;
  /** It is gone, and its tokens are good for nothing, also where a client of this id is added again. @throws ClientRefused where there is no such client */
  remove(id: string): Promise<void>;
  /** Other keys in place of all present ones. @throws ClientRefused */
  rotate(id: string, keys: Pick<Client, 'jwks'> | Pick<Client, 'jwksUrl'>): Promise<Client>;
}

/** The register in a store. */
export function createClientRegister(maps: AtomicMaps, rules: RegistrationRules): ClientRegister {
  /** @param step of the client as it is; undefined: there is none */
  async function change(id: string, step: (client: Client | undefined) => Client): Promise<Client> {
    for (let tries = 0; tries < TRIES; tries += 1) {
      const text = await maps.get(CLIENTS_MAP, id);
      const next = step(text === undefined ? undefined : readClient(text));
      const written = writeClient(next);
      if (written === text || (await maps.swap(CLIENTS_MAP, id, text, written))) return next;
    }
    throw new ClientRefused(`The client "${id}" is changed by others all the time; try again`);
  }

  const known = (id: string, client: Client | undefined): Client => {
    if (client === undefined) throw new ClientRefused(`There is no client "${id.slice(0, 255)}"`);
    return client;
  };

  return {
    add: async (registration, replace = false) => {
      const client = readRegistration(registration, rules);
      return await change(client.id, (before) => {
        if (before === undefined) return { ...client, registration: randomBytes(9).toString('base64url') };
        if (replace) return withRegistration(client, before);
        throw new ClientRefused(`There is a client "${client.id}" already; --replace registers it anew`);
      });
    },
    find: async (id) => {
      const text = await maps.get(CLIENTS_MAP, id);
      return text === undefined ? undefined : readClient(text);
    },
    list: async () => {
      const entries = await maps.entries(CLIENTS_MAP);
      return [...entries.keys()].sort().map((id) => readClient(entries.get(id)!));
    },
    enable: (id) => change(id, (client) => ({ ...known(id, client), enabled: true })),
    disable: (id) => change(id, (client) => ({ ...known(id, client), enabled: false })),
    remove: async (id) => {
      const text = await maps.get(CLIENTS_MAP, id);
      known(id, text === undefined ? undefined : readClient(text));
      await maps.delete(CLIENTS_MAP, id);
    },
    rotate: (id, keys) =>
      change(id, (client) => {
        const before = known(id, client);
        const { jwks: _jwks, jwksUrl: _jwksUrl, registration: _registration, ...rest } = before;
        return withRegistration(readRegistration({ ...rest, ...keys }, rules), before);
      }),
  };
}

/** Changed, it is the same client still: its tokens stay valid. */
function withRegistration(client: Client, { registration }: Client): Client {
  return registration === undefined ? client : { ...client, registration };
}
