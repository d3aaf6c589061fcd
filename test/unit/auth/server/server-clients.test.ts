import { generateKeyPairSync, type KeyObject } from 'node:crypto';
import { beforeEach, describe, expect, it } from 'vitest';

import { createClientReader } from '../../../../runtime/auth/clients/client-reader.js';
import {
  CLIENTS_MAP,
  createClientRegister,
  type ClientRegister,
} from '../../../../runtime/auth/clients/client-register.js';
import { ClientRefused, readRegistration } from '../../../../runtime/auth/clients/registration.js';
import { readAllowList } from '../../../../runtime/auth/jwks/allow-list.js';
import type { Jwk } from '../../../../runtime/auth/jwks/jwk.js';
import { clientKeys, createTestMaps, publicHalf, type Clock } from './server-fixture.js';

const rules = { allow: readAllowList(['keys.local:8443']), isScope: ({ scope }: { scope: string }) => scope !== 'x' };
const rsaOf = (modulusLength: number): Jwk => jwkOf(generateKeyPairSync('rsa', { modulusLength }).publicKey);
const ecOf = (namedCurve: string): Jwk => jwkOf(generateKeyPairSync('ec', { namedCurve }).publicKey);
const jwkOf = (key: KeyObject): Jwk => ({ ...key.export({ format: 'jwk' }), kid: 'k' });

let ec: Jwk;
let rsa: Jwk;
let isReady = false;
beforeEach(async () => {
  if (isReady) return;
  ({ ec, rsa } = await clientKeys());
  isReady = true;
});

/** The modulus of the RSA key, its lowest bit cleared. */
function evenModulus(): string {
  const n = Buffer.from(String(rsa['n']), 'base64url');
  n[n.length - 1]! &= 0xfe;
  return n.toString('base64url');
}

const good = () => ({ id: 'app', scope: 'system/Patient.rs', jwks: { keys: [publicHalf(ec), publicHalf(rsa)] } });

describe('a registration', () => {
  it('is taken with keys by value or by URL', () => {
    expect(readRegistration(good(), rules)).toEqual({ ...good(), enabled: true });
    const { jwks: _jwks, ...rest } = good();
    const byUrl = { ...rest, jwksUrl: 'https://app.example/jwks', dialect: 'eu-0.1', lifetime: 60, enabled: false };
    expect(readRegistration(byUrl, rules)).toEqual(byUrl);
    const local = { ...rest, jwksUrl: 'https://keys.local:8443/jwks' };
    expect(readRegistration(local, rules)).toEqual({ ...local, enabled: true });
    expect(readRegistration({ ...good(), grants: [], scope: 'x' }, rules).grants).toEqual([]);
  });

  it.each<[string, () => object | string, RegExp]>([
    ['no object', () => 'x', /is an object/],
    ['an unknown member', () => ({ secret: 's' }), /no member "secret"/],
    ['no id', () => ({ id: undefined }), /id of a client/],
    ['an id with a space', () => ({ id: 'a b' }), /id of a client/],
    ['a long id', () => ({ id: 'x'.repeat(256) }), /id of a client/],
    ['a scope of which nothing can be granted', () => ({ scope: 'x' }), /could be granted/],
    ['no scope', () => ({ scope: undefined }), /scope of a client is needed/],
    ['another dialect', () => ({ dialect: 'v3' }), /dialect/],
    ['a long life', () => ({ lifetime: 301 }), /1 to 300 seconds/],
    ['no life', () => ({ lifetime: 0 }), /1 to 300 seconds/],
    ['symmetric algorithms', () => ({ algorithms: ['HS256'] }), /RS384, ES384/],
    ['other grants', () => ({ grants: ['password'] }), /grants/],
    ['no keys', () => ({ jwks: undefined }), /either a JWKS or the URL/],
    ['both', () => ({ jwksUrl: 'https://app.example/jwks' }), /either a JWKS or the URL/],
    ['http', () => ({ jwks: undefined, jwksUrl: 'http://app.example/jwks' }), /is not https/],
    ['a user', () => ({ jwks: undefined, jwksUrl: 'https://a:b@app.example/jwks' }), /names a user/],
    ['a port', () => ({ jwks: undefined, jwksUrl: 'https://app.example:8443/jwks' }), /port that is not allowed/],
    ['no URL', () => ({ jwks: undefined, jwksUrl: 'jwks' }), /cannot be read/],
    ['no list', () => ({ jwks: { keys: {} } }), /"keys" that is a list/],
    ['an empty list', () => ({ jwks: { keys: [] } }), /no keys/],
    ['101 keys', () => ({ jwks: { keys: Array.from({ length: 101 }, () => publicHalf(ec)) } }), /more than 100/],
    ['a key that is none', () => ({ jwks: { keys: ['x'] } }), /Key 1 of the JWKS is not an object/],
    ['a private EC key', () => ({ jwks: { keys: [publicHalf(ec), ec] } }), /Key 2 .* private member \("d"\)/],
    ['a private RSA key', () => ({ jwks: { keys: [rsa] } }), /private member/],
    ['a symmetric key', () => ({ jwks: { keys: [{ kty: 'oct', k: 'c2VjcmV0', kid: 'k' }] } }), /symmetric/],
    ['a key without kid', () => ({ jwks: { keys: [{ ...publicHalf(ec), kid: undefined }] } }), /no kid/],
    ['a key without kty', () => ({ jwks: { keys: [{ ...publicHalf(ec), kty: undefined }] } }), /no kty/],
    ['RSA of 1024 bits', () => ({ jwks: { keys: [rsaOf(1024)] } }), /1024 bits/],
    ['P-256', () => ({ jwks: { keys: [ecOf('P-256')] } }), /P-384/],
    ['OKP', () => ({ jwks: { keys: [{ kty: 'OKP', crv: 'Ed25519', x: 'A'.repeat(43), kid: 'k' }] } }), /kty that none/],
    ['a short coordinate', () => ({ jwks: { keys: [{ ...publicHalf(ec), x: 'AA' }] } }), /x and y/],
    ['another curve', () => ({ jwks: { keys: [{ ...publicHalf(ec), crv: 'secp256k1' }] } }), /not supported/],
    ['RSA without e', () => ({ jwks: { keys: [{ ...publicHalf(rsa), e: undefined }] } }), /without n and e/],
    [
      'RSA with exponent 1: anyone can sign for it',
      () => ({ jwks: { keys: [{ ...publicHalf(rsa), e: 'AQ' }] } }),
      /exponent/,
    ],
    ['RSA with exponent 2', () => ({ jwks: { keys: [{ ...publicHalf(rsa), e: 'Ag' }] } }), /even exponent/],
    [
      'RSA with an even modulus',
      () => ({ jwks: { keys: [{ ...publicHalf(rsa), n: evenModulus() }] } }),
      /even modulus/,
    ],
    ['EC off its curve', () => ({ jwks: { keys: [{ ...publicHalf(ec), y: publicHalf(ec)['x'] }] } }), /curve/],
    ['another alg', () => ({ jwks: { keys: [{ ...publicHalf(rsa), alg: 'RS256' }] } }), /"alg"/],
    ['a key to encrypt', () => ({ jwks: { keys: [{ ...publicHalf(rsa), use: 'enc' }] } }), /"use"/],
    ['a key to sign', () => ({ jwks: { keys: [{ ...publicHalf(rsa), key_ops: ['sign'] }] } }), /key_ops/],
    ['the same kid twice', () => ({ jwks: { keys: [publicHalf(ec), publicHalf(ec)] } }), /kid of another/],
  ])('is refused with %s', (_name, change, message) => {
    const changed = change();
    const given = typeof changed === 'string' ? changed : { ...good(), ...changed };
    let refused: unknown;
    try {
      readRegistration(given, rules);
    } catch (error) {
      refused = error;
    }
    expect(refused).toBeInstanceOf(ClientRefused);
    expect((refused as Error).message).toMatch(message);
    expect((refused as Error).message).not.toMatch(/\n|[A-Za-z0-9_-]{40}/);
  });
});

describe('the register', () => {
  let clock: Clock;
  let maps: ReturnType<typeof createTestMaps>;
  let register: ClientRegister;
  beforeEach(() => {
    clock = { time: 1_800_000_000_000 };
    maps = createTestMaps(clock);
    register = createClientRegister(maps, rules);
  });

  it('adds, lists, disables, enables, rotates', async () => {
    const { registration } = await register.add({ ...good(), id: 'b', name: 'Ben' });
    await register.add(good());
    expect((await register.list()).map(({ id }) => id)).toEqual(['app', 'b']);
    expect(await register.disable('b')).toMatchObject({ id: 'b', name: 'Ben', enabled: false });
    expect((await register.list())[1]?.enabled).toBe(false);
    expect((await register.rotate('b', { jwksUrl: 'https://b.example/jwks' })).jwks).toBeUndefined();
    expect(await register.enable('b')).toEqual({
      id: 'b',
      name: 'Ben',
      scope: 'system/Patient.rs',
      jwksUrl: 'https://b.example/jwks',
      enabled: true,
      registration,
    });
    expect((await register.add({ ...good(), id: 'b' }, true)).registration).toBe(registration);
    await expect(register.rotate('b', { jwks: { keys: [ec] } })).rejects.toThrow(/private/);
    await expect(register.add(good())).rejects.toThrow(/"app" already; --replace/);
    expect((await register.add({ ...good(), name: 'New' }, true)).name).toBe('New');
    await expect(register.disable('nobody')).rejects.toThrow(ClientRefused);
    await expect(register.rotate('nobody', { jwksUrl: 'https://b.example/jwks' })).rejects.toThrow(
      /no client "nobody"/,
    );
  });

  it('loses nothing where many change a client at once', async () => {
    const added = await Promise.allSettled(Array.from({ length: 5 }, () => register.add(good())));
    expect(added.filter(({ status }) => status === 'fulfilled')).toHaveLength(1);
    await Promise.all([
      register.disable('app'),
      register.rotate('app', { jwksUrl: 'https://app.example/jwks' }),
      register.disable('app'),
    ]);
    expect((await register.list())[0]).toMatchObject({ enabled: false, jwksUrl: 'https://app.example/jwks' });
  });

  it('is seen by other processes within 2 s, and asked once for many requests', async () => {
    await register.add(good());
    let reads = 0;
    const counted = { ...maps, get: (map: string, key: string) => ((reads += 1), maps.get(map, key)) };
    const reader = createClientReader(counted, new Set(), () => clock.time);
    const found = await Promise.all(Array.from({ length: 20 }, () => reader.find('app')));
    expect(reads).toBe(1);
    await register.disable('app');
    expect((await reader.find('app'))?.enabled).toBe(true);
    clock.time += 1000;
    expect((await reader.find('app'))?.enabled).toBe(false);
    await register.enable('app');
    clock.time += 1000;
    // What did not change are the same objects, so that keys stay imported.
    const [again, more] = [await reader.find('app'), ((clock.time += 1000), await reader.find('app'))];
    expect(again).toEqual(found[0]);
    expect(more).toBe(again);
    expect(await reader.find('nobody')).toBeUndefined();
    expect(await reader.find('x'.repeat(300))).toBeUndefined();
    clock.time -= 3600_000;
    await maps.delete(CLIENTS_MAP, 'app');
    expect(await reader.find('app')).toBeUndefined();
  });

  it('fails closed without a store', async () => {
    await register.add(good());
    const reader = createClientReader(maps, new Set(), () => clock.time);
    await reader.find('app');
    clock.time += 1000;
    maps.fault = new Error('no store');
    await expect(reader.find('app')).rejects.toThrow('no store');
    delete maps.fault;
    expect((await reader.find('app'))?.id).toBe('app');
  });
});
