import { DEVELOPMENT_CLIENT } from '../config/development.js';
import { readNamedFile } from '../assembly/read-file.js';
import { openRegistration, type Registration } from '../assembly/registration.js';
import type { Client } from '../auth/clients/client.js';
import { ClientRefused } from '../auth/clients/registration.js';
import { ConfigError } from '../config/config-error.js';
import { readConfig, type Flags } from '../config/read-config.js';
import { withAuthStore } from './auth-store.js';
import { printable, type Terminal } from './terminal.js';

/** Where a client's keys are: exactly one of them. */
export interface KeyFlags {
  readonly jwks?: string;
  readonly jwksUrl?: string;
}

/** Options of `kiln client add`. */
export interface AddFlags extends KeyFlags {
  readonly id: string;
  readonly scope: string;
  readonly name?: string;
  readonly dialect?: string;
  readonly lifetime?: string;
  readonly replace?: boolean;
}

/**
 * `kiln client add`: registers a client, on a store that is made where there is none.
 *
 * @returns the exit code
 * @throws ConfigError
 */
export async function addClient(options: AddFlags, flags: Flags, terminal: Terminal): Promise<number> {
  const { id, scope, name, dialect, lifetime, replace = false } = options;
  return await change(flags, terminal, true, async ({ register, explain }) => {
    const rest = { ...(name === undefined ? {} : { name }), ...(dialect === undefined ? {} : { dialect }) };
    const life = lifetime === undefined ? {} : { lifetime: Number(lifetime) };
    refuseReserved(id);
    const client = await register.add({ id, scope, ...rest, ...life, ...(await readKeys(options)) }, replace);
    terminal.out(`${printable(id)} is registered`);
    for (const fault of explain(client)) terminal.err(`kiln: of its scope ${printable(fault)}`);
  });
}

/** `kiln client enable` and `disable`. As `addClient`. */
export async function switchClient(id: string, isEnabled: boolean, flags: Flags, terminal: Terminal): Promise<number> {
  return await change(flags, terminal, false, async ({ register }) => {
    await (isEnabled ? register.enable(id) : register.disable(id));
    terminal.out(`${printable(id)} is ${isEnabled ? 'enabled' : 'disabled'}`);
  });
}

/** `kiln client rotate`: other keys in place of all present ones. As `addClient`. */
export async function rotateClient(id: string, options: KeyFlags, flags: Flags, terminal: Terminal): Promise<number> {
  return await change(flags, terminal, false, async ({ register }) => {
    refuseReserved(id);
    await register.rotate(id, await readKeys(options));
    terminal.out(`${printable(id)} has other keys`);
  });
}

/** `kiln client list`: one client a line, or all as JSON. As `addClient`. */
export async function listClients(isJson: boolean, flags: Flags, terminal: Terminal): Promise<number> {
  return await change(flags, terminal, false, async ({ register }) => {
    const clients = await register.list();
    if (isJson) terminal.out(JSON.stringify(clients, undefined, 2));
    else for (const client of clients) terminal.out(describe(client));
  });
}

async function change(
  flags: Flags,
  terminal: Terminal,
  isMade: boolean,
  action: (registration: Registration) => Promise<void>,
): Promise<number> {
  const { config } = readConfig(flags, terminal.env);
  return await withAuthStore(config, isMade, terminal, (store) => action(openRegistration(config, store.maps, store)));
}

/** Its key is kept by the server that it is for. */
function refuseReserved(id: string): void {
  if (id === DEVELOPMENT_CLIENT) {
    throw new ClientRefused(`"${id}" is the development client, which serve registers by itself; take another id`);
  }
}

/** @throws ConfigError where there is not exactly one, ClientRefused for a file that is no JSON */
async function readKeys({ jwks, jwksUrl }: KeyFlags): Promise<Pick<Client, 'jwks'> | Pick<Client, 'jwksUrl'>> {
  if ((jwks === undefined) === (jwksUrl === undefined)) throw new ConfigError('give either --jwks or --jwks-url');
  if (jwksUrl !== undefined) return { jwksUrl };
  const text = await readNamedFile('--jwks', jwks!);
  try {
    return { jwks: JSON.parse(text) as NonNullable<Client['jwks']> };
  } catch {
    throw new ClientRefused(`${jwks} is not JSON`);
  }
}

function describe({ id, name, scope, dialect, jwks, jwksUrl, enabled, lifetime }: Client): string {
  const kids = jwks?.keys.map((key) => String(key['kid'])).join(', ');
  const parts = [
    id,
    enabled ? 'enabled' : 'DISABLED',
    scope,
    ...(dialect === undefined ? [] : [dialect]),
    jwksUrl ?? `keys: ${kids}`,
    ...(lifetime === undefined ? [] : [`${lifetime} s`]),
    ...(name === undefined ? [] : [name]),
  ];
  return printable(parts.join('  '));
}
