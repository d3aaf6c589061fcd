import { request as httpsRequest } from 'node:https';
import { request as httpRequest, type IncomingHttpHeaders, type RequestListener } from 'node:http';

import { OWN } from '../../toy/own.js';
import { tables } from '../../../generated/tables.js';
import { prepareAccess } from '../../../runtime/assembly/access.js';
import { openRegistration, type Registration } from '../../../runtime/assembly/registration.js';
import type { Jwk } from '../../../runtime/auth/jwks/jwk.js';
import { generateKey } from '../../../runtime/auth/keys/jws.js';
import { tokenForm } from '../../../runtime/auth/server/client-assertion.js';
import { readConfig } from '../../../runtime/config/read-config.js';
import { createApp } from '../../../runtime/http/app.js';
import { listen } from '../../../runtime/http/listen.js';
import { withFront } from '../../../runtime/http/transport/front.js';
import { createExtractor } from '../../../runtime/indexing/extract.js';
import { utc } from '../../../runtime/indexing/values/zone.js';
import type { Store } from '../../../runtime/store/store.js';
import { createToyStore } from '../../toy/store.js';
import { publicHalf } from '../../unit/auth/server/server-fixture.js';

/** An answer, whole. */
export interface Got {
  readonly status: number;
  readonly headers: IncomingHttpHeaders;
  readonly text: string;
}

/** A server with authorization as `kiln serve` puts it together, on a store in memory or on another. */
export interface AuthorizedServer {
  /** Where it listens. */
  readonly url: string;
  /** Under which clients know it. */
  readonly root: string;
  readonly store: Store;
  readonly register: Registration['register'];
  readonly logged: { readonly notes: string[]; readonly defects: unknown[] };
  /** Private key of the client `app`. */
  readonly key: Jwk;
  /** @param path from where it listens */
  get(path: string, method?: string, headers?: Record<string, string>, body?: string | Buffer): Promise<Got>;
  /** The form that asks for a token, of `app` where nothing is said. */
  form(scope?: string): Promise<string>;
  close(): Promise<unknown>;
}

export const FORM = { 'content-type': 'application/x-www-form-urlencoded' };

const extract = createExtractor(tables, { own: OWN });

/** @param flags options of serve */
export async function startAuthorized(
  flags: Record<string, string> = {},
  store: Store = createToyStore(),
): Promise<AuthorizedServer> {
  const { config } = readConfig({ auth: 'smart', store: 'sqlite::memory:', ...flags }, {});
  const parts = { tables, zone: utc, own: OWN, maps: store.maps };
  const logged = { notes: [] as string[], defects: [] as unknown[] };
  const log = {
    request: () => {},
    info: (note: string) => void logged.notes.push(note),
    warn: (note: string) => void logged.notes.push(note),
    defect: (_id: string, error: unknown) => void logged.defects.push(error),
  };
  const accessAt = await prepareAccess(config, parts, log);
  const late: { app?: RequestListener } = {};
  const server = await listen((req, res) => late.app?.(req, res), '127.0.0.1', 0);
  const root = config['base-url'] ?? server.url;
  const serving = createApp({ tables, store, extract, own: OWN, log, ...accessAt(root) });
  late.app = withFront(serving, { root, hsts: false });

  const { register } = openRegistration(config, store.maps, parts);
  const key = await generateKey('ES384');
  await register.add({ id: 'app', scope: 'system/*.cruds', jwks: { keys: [publicHalf(key)] } });
  return {
    url: server.url,
    root,
    store,
    register,
    logged,
    key,
    get: (path, method = 'GET', headers = {}, body) => exchange(`${server.url}${path}`, method, headers, body),
    form: (scope = 'system/*.cruds') =>
      tokenForm({ clientId: 'app', key, audience: `${root}/auth/token`, scope }, Date.now()),
    close: () => server.close(1000),
  };
}

/** Node's own client, which sends what it is told. */
function exchange(url: string, method: string, headers: Record<string, string>, body?: string | Buffer): Promise<Got> {
  const open = url.startsWith('https:') ? httpsRequest : httpRequest;
  return new Promise((resolve, reject) => {
    const isChunked = headers['transfer-encoding'] !== undefined;
    const length = body === undefined || isChunked ? {} : { 'content-length': String(Buffer.byteLength(body)) };
    const req = open(url, { method, headers: { ...length, ...headers } }, (res) => {
      let text = '';
      res.on('data', (chunk: Buffer) => (text += chunk.toString()));
      res.on('error', reject);
      res.on('end', () => resolve({ status: res.statusCode ?? 0, headers: res.headers, text }));
    });
    req.on('error', reject);
    req.end(body);
  });
}
