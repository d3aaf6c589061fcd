import { randomUUID } from 'node:crypto';
import { chmod, link, mkdir, readFile, rm, stat, writeFile } from 'node:fs/promises';
import { dirname } from 'node:path';

import type { ClientRegister } from '../auth/clients/client-register.js';
import type { Client } from '../auth/clients/client.js';
import type { Jwk } from '../auth/jwks/jwk.js';
import { generateKey } from '../auth/keys/jws.js';
import { signingKeyFault } from '../auth/server/client-assertion.js';
import { DEVELOPMENT_CLIENT, developmentKeyFile, whyNoDevelopmentClient } from '../config/development.js';
import type { Config } from '../config/settings.js';
import type { Log } from '../observe/log.js';

const SCOPE = 'system/*.cruds';
const PRIVATE_TO_OWNER = 0o600;

/**
 * Registers the development client at a first start; disables it as soon as the server is for others too, or has another
 * store: so its tokens end in all processes. Once disabled it stays so until an administrator enables it; a server that is for others
 * does not know it even then (`noClients` of its settings).
 */
export async function settleDevelopmentClient(
  config: Config,
  register: ClientRegister,
  log: Pick<Log, 'info'>,
): Promise<void> {
  const known = await register.find(DEVELOPMENT_CLIENT);
  const why = whyNoDevelopmentClient(config);
  if (why !== undefined) {
    if (known?.enabled !== true) return;
    await register.disable(DEVELOPMENT_CLIENT);
    log.info(`the development client is disabled: ${why}`);
    return;
  }
  const file = developmentKeyFile(config);
  const { kty, crv, x, y, kid } = await openKey(file);
  const jwks = { keys: [{ kty, crv, x, y, kid, use: 'sig' }] };
  if (known === undefined) {
    // Of two processes that start at once one comes first.
    const name = 'Development client of this machine';
    await register.add({ id: DEVELOPMENT_CLIENT, name, scope: SCOPE, jwks }, true);
    log.info(`the development client is registered, with all scopes of data (${SCOPE}); its key is ${file}`);
    return;
  }
  if (!hasKey(known, jwks.keys[0]!)) {
    await register.rotate(DEVELOPMENT_CLIENT, { jwks });
    log.info(
      `the development client has another key, which is ${file}: this store had one whose file is not here, as a store that was ` +
        'restored or moved. The key before is good for nothing with it',
    );
  }
  if (!known.enabled) {
    log.info(`the development client is disabled; kiln client enable --id ${DEVELOPMENT_CLIENT} lets it in again`);
  }
}

function hasKey({ jwks }: Client, key: Jwk): boolean {
  return jwks?.keys.length === 1 && ['kid', 'x', 'y'].every((name) => jwks.keys[0]?.[name] === key[name]);
}

/** The key in the file, which is made where it is missing. @throws Error where it is none */
async function openKey(file: string): Promise<Jwk> {
  const present = await readKey(file);
  if (present !== undefined) return present;
  await mkdir(dirname(file), { recursive: true });
  // Made whole before it gets its name, so that no process reads a part of it; the first one stays.
  const made = `${file}.${randomUUID()}`;
  try {
    await writeFile(made, `${JSON.stringify(await generateKey('ES384'))}\n`, { mode: PRIVATE_TO_OWNER, flag: 'wx' });
    await link(made, file).catch((error: NodeJS.ErrnoException) => {
      if (error.code !== 'EEXIST') throw error;
    });
  } finally {
    await rm(made, { force: true });
  }
  const key = await readKey(file);
  if (key === undefined) throw new Error(`${file} went away while it was made`);
  return key;
}

/** Undefined: there is no such file. @throws Error where it holds something else; the error quotes nothing of it */
async function readKey(file: string): Promise<Jwk | undefined> {
  let key: unknown;
  try {
    if (((await stat(file)).mode & 0o077) !== 0) await chmod(file, PRIVATE_TO_OWNER);
    key = JSON.parse(await readFile(file, 'utf8'));
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return undefined;
    if (!(error instanceof SyntaxError)) throw error;
  }
  const fault = signingKeyFault(key);
  if (fault === undefined && (key as Jwk)['kty'] === 'EC') return key as Jwk;
  throw new Error(
    `${file} is not the key of the development client (it ${fault ?? 'is RSA'}); delete it, and it is made anew`,
  );
}
