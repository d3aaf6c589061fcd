import { randomUUID } from 'node:crypto';
import { setImmediate } from 'node:timers/promises';

import { createClientRegister, type ClientRegister } from '../../../../runtime/auth/clients/client-register.js';
import { readAllowList } from '../../../../runtime/auth/jwks/allow-list.js';
import type { Jwk } from '../../../../runtime/auth/jwks/jwk.js';
import type { JwksSource } from '../../../../runtime/auth/jwks/jwks-source.js';
import { generateKey, signJws } from '../../../../runtime/auth/keys/jws.js';
import {
  createAuthorizationServer,
  type AuthorizationServer,
} from '../../../../runtime/auth/server/authorization-server.js';
import type { AuthEvent } from '../../../../runtime/auth/server/events.js';
import type { OAuthEndpoint, OAuthReply, OAuthRequest } from '../../../../runtime/auth/server/messages.js';
import { addressesOf, AUTH_DEFAULTS, type AuthSettings } from '../../../../runtime/auth/server/settings.js';
import type { GrantScopes } from '../../../../runtime/auth/server/token-endpoint.js';
import type { AtomicMaps } from '../../../../runtime/store/store.js';

export const ADDRESSES = addressesOf('https://kiln.example/');
export const SETTINGS: AuthSettings = { ...AUTH_DEFAULTS, addresses: ADDRESSES };

/** A clock that stands still. In milliseconds. */
export interface Clock {
  time: number;
}

/** Maps in memory as the port demands, expiry included. Each step lets others in. */
export function createTestMaps(clock: Clock): AtomicMaps & { fault?: Error } {
  const all = new Map<string, Map<string, { value: string; expires: number }>>();
  const read = (map: string, key: string) => {
    const entry = all.get(map)?.get(key);
    return entry === undefined || entry.expires <= clock.time ? undefined : entry.value;
  };
  const maps: AtomicMaps & { fault?: Error } = {
    async get(map, key) {
      await turn();
      return read(map, key);
    },
    swapAll: () => Promise.reject(new Error('not needed here')),
    range: () => Promise.reject(new Error('not needed here')),
    async entries(map) {
      await turn();
      const keys = [...(all.get(map)?.keys() ?? [])].filter((key) => read(map, key) !== undefined);
      return new Map(keys.map((key) => [key, read(map, key)!]));
    },
    async swap(map, key, expected, value, expires = Infinity) {
      await turn();
      if (read(map, key) !== expected) return false;
      const entries = all.get(map) ?? new Map<string, { value: string; expires: number }>();
      all.set(map, entries.set(key, { value, expires }));
      return true;
    },
    async delete(map, key) {
      await turn();
      all.get(map)?.delete(key);
    },
    scan: async () => ({ entries: [] }),
  };
  async function turn(): Promise<void> {
    await setImmediate();
    if (maps.fault !== undefined) throw maps.fault;
  }
  return maps;
}

/** What is requested and registered, word by word; each word of `.x` is canonically `.y`. */
export const grantWords: GrantScopes = (requested, { scope }) => {
  const words = requested.split(' ').filter((word) => scope.split(' ').includes(word));
  const spelled = words.join(' ');
  return words.length === 0 ? undefined : { canonical: spelled.replaceAll('.read', '.rs'), spelled };
};

export const REGISTERED = 'system/Patient.rs system/Observation.read __introspect';

/** What an assertion differs in from a good one. */
export interface AssertionChange {
  readonly header?: Readonly<Record<string, unknown>>;
  readonly claims?: Readonly<Record<string, unknown>>;
  readonly key?: Jwk;
}

export interface World {
  readonly clock: Clock;
  readonly maps: AtomicMaps & { fault?: Error };
  readonly register: ClientRegister;
  readonly keys: { readonly ec: Jwk & { kid: string }; readonly rsa: Jwk & { kid: string } };
  readonly events: AuthEvent[];
  readonly defects: unknown[];
  readonly server: AuthorizationServer;
  /** Another process. */
  open(settings?: AuthSettings): AuthorizationServer;
  assertion(change?: AssertionChange): Promise<string>;
  /** A good token request, changed. A parameter that is undefined is left out. */
  form(change?: Readonly<Record<string, string | undefined>>, assertion?: AssertionChange): Promise<string>;
  post(body: string, change?: Partial<OAuthRequest>, endpoint?: OAuthEndpoint): Promise<OAuthReply>;
  /** A token of the client `app`. */
  token(scope?: string): Promise<string>;
}

export interface WorldSettings {
  readonly settings?: AuthSettings;
  readonly jwks?: JwksSource;
  readonly grant?: GrantScopes;
}

/** The public half. */
export function publicHalf({ kty, n, e, crv, x, y, kid }: Jwk): Jwk {
  return JSON.parse(JSON.stringify({ kty, n, e, crv, x, y, kid })) as Jwk;
}

/** The content of a reply. */
export function contentOf({ body }: OAuthReply): Record<string, unknown> {
  return JSON.parse(body) as Record<string, unknown>;
}

/** A compact JWS of anything, signed by nobody. */
export function rawJws(header: unknown, payload: unknown, signature = 'AAAA'): string {
  const parts = [header, payload].map((part) => Buffer.from(JSON.stringify(part)).toString('base64url'));
  return [...parts, signature].join('.');
}

/** A source that knows nothing. */
export const NO_JWKS: JwksSource = { find: async () => ({ missing: 'unknown' }) };

let made: Promise<World['keys']> | undefined;

/** Made once: an RSA key takes half a second. */
export function clientKeys(): Promise<World['keys']> {
  made ??= Promise.all([generateKey('ES384'), generateKey('RS384')]).then(([ec, rsa]) => ({ ec, rsa }));
  return made;
}

/** A server with a client `app`, whose keys are registered by value. */
export async function createWorld(options: WorldSettings = {}): Promise<World> {
  const clock = { time: Date.parse('2026-11-22T12:00:00.250Z') };
  const maps = createTestMaps(clock);
  const now = (): number => clock.time;
  const register = createClientRegister(maps, { allow: readAllowList([]), isScope: () => true });
  const { ec, rsa } = await clientKeys();
  await register.add({ id: 'app', scope: REGISTERED, jwks: { keys: [publicHalf(ec), publicHalf(rsa)] } });
  const events: AuthEvent[] = [];
  const defects: unknown[] = [];
  const open = (settings = options.settings ?? SETTINGS): AuthorizationServer =>
    createAuthorizationServer({
      settings,
      maps,
      jwks: options.jwks ?? NO_JWKS,
      grant: options.grant ?? grantWords,
      events: { happened: (event) => events.push(event), defect: (error) => defects.push(error) },
      now,
    });
  const server = open();

  const assertion: World['assertion'] = async ({ header = {}, claims = {}, key = ec } = {}) =>
    await signJws(
      { alg: key['kty'] === 'RSA' ? 'RS384' : 'ES384', kid: key['kid'] as string, typ: 'JWT', ...header },
      {
        iss: 'app',
        sub: 'app',
        aud: ADDRESSES.token,
        exp: Math.floor(clock.time / 1000) + 240,
        jti: randomUUID(),
        ...claims,
      },
      key,
    );

  const form: World['form'] = async (change = {}, changed = {}) => {
    const all: Record<string, string | undefined> = {
      grant_type: 'client_credentials',
      scope: 'system/Patient.rs',
      client_assertion_type: 'urn:ietf:params:oauth:client-assertion-type:jwt-bearer',
      client_assertion: 'client_assertion' in change ? undefined : await assertion(changed),
      ...change,
    };
    const present = Object.entries(all).filter((each): each is [string, string] => each[1] !== undefined);
    return new URLSearchParams(present).toString();
  };

  const post: World['post'] = async (body, change = {}, endpoint = server.token) =>
    await endpoint({
      method: 'POST',
      contentType: 'application/x-www-form-urlencoded',
      query: '',
      headers: {},
      address: '192.0.2.7',
      body,
      ...change,
    });

  return {
    clock,
    maps,
    register,
    keys: { ec, rsa },
    events,
    defects,
    server,
    open,
    assertion,
    form,
    post,
    token: async (scope = 'system/Patient.rs') => {
      const { body, status } = await post(await form({ scope }));
      if (status !== 200) throw new Error(body);
      return (JSON.parse(body) as { access_token: string }).access_token;
    },
  };
}
