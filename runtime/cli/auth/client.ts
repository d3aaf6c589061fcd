import { DEVELOPMENT_CLIENT } from '../../config/development.js';
import { readNamedFile } from '../../assembly/read-file.js';
import { openRegistration, type Registration } from '../../assembly/registration.js';
import type { Client } from '../../auth/clients/client.js';
import { ClientRefused } from '../../auth/clients/registration.js';
import type { JwkSet } from '../../auth/jwks/jwk.js';
import { isPem, readPublicKeys } from '../../auth/keys/pem.js';
import { ConfigError } from '../../config/config-error.js';
import { readConfig, type Flags } from '../../config/read-config.js';
import { withAuthStore } from './auth-store.js';
import { printable, type Terminal } from '../terminal.js';

/** Where a client's keys are: exactly one of them. */
export interface KeyFlags {
  /** A file: a JWK Set, or public keys in PEM. */
  readonly jwks?: string;
  readonly jwksUrl?: string;
  /** Name of the key, where it is in PEM. */
  readonly kid?: string;
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
    const { keys, given } = await readKeys(options);
    const client = await register.add({ id, scope, ...rest, ...life, ...keys }, replace);
    terminal.out(`${printable(id)} is registered`);
    tellKids(given, terminal);
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

/** `kiln client remove`. As `addClient`. */
export async function removeClient(id: string, flags: Flags, terminal: Terminal): Promise<number> {
  return await change(flags, terminal, false, async ({ register }) => {
    if (id === DEVELOPMENT_CLIENT) {
      throw new ClientRefused(`"${id}" would be back at the next start; kiln client disable --id ${id} keeps it out`);
    }
    await register.remove(id);
    terminal.out(`${printable(id)} is removed`);
  });
}

/** `kiln client rotate`: other keys in place of all present ones. As `addClient`. */
export async function rotateClient(id: string, options: KeyFlags, flags: Flags, terminal: Terminal): Promise<number> {
  return await change(flags, terminal, false, async ({ register }) => {
    refuseReserved(id);
    const { keys, given } = await readKeys(options);
    await register.rotate(id, keys);
    terminal.out(`${printable(id)} has other keys`);
    tellKids(given, terminal);
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

/** Keys as they are registered. */
interface ReadKeys {
  readonly keys: Pick<Client, 'jwks'> | Pick<Client, 'jwksUrl'>;
  /** Names that we gave to keys whose file has no place for one. */
  readonly given: readonly string[];
}

/** @throws ConfigError where there is not exactly one, ClientRefused for a file that holds no keys */
async function readKeys({ jwks, jwksUrl, kid }: KeyFlags): Promise<ReadKeys> {
  if ((jwks === undefined) === (jwksUrl === undefined)) throw new ConfigError('give either --jwks or --jwks-url');
  if (jwksUrl !== undefined) return { keys: { jwksUrl }, given: [] };
  const text = await readNamedFile('--jwks', jwks!);
  if (isPem(text)) return readPem(text, jwks!, kid);
  if (kid !== undefined) throw new ConfigError('--kid is for a key in PEM; a JWK Set names its keys itself');
  try {
    return { keys: { jwks: JSON.parse(text) as JwkSet }, given: [] };
  } catch {
    throw new ClientRefused(`${jwks} is neither JSON nor PEM`);
  }
}

async function readPem(text: string, file: string, kid: string | undefined): Promise<ReadKeys> {
  const keys = await readPublicKeys(text).catch((error: unknown) => {
    throw error instanceof TypeError ? new ClientRefused(`${file} ${error.message}`) : error;
  });
  if (kid !== undefined && keys.length > 1)
    throw new ConfigError(`--kid names one key, and ${file} has ${keys.length}`);
  const named = keys.map((key) => (kid === undefined ? key : { ...key, kid }));
  return { keys: { jwks: { keys: named } }, given: named.map((key) => String(key['kid'])) };
}

function tellKids(given: readonly string[], terminal: Terminal): void {
  for (const kid of given) terminal.out(`in the header of its assertions: "kid": "${printable(kid)}"`);
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
