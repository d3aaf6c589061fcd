import { beforeAll, beforeEach, describe, expect, it } from 'vitest';

import { isPublic, readRanges } from '../../../../runtime/auth/jwks/addresses.js';
import { readAllowList } from '../../../../runtime/auth/jwks/allow-list.js';
import { readCaching, type Headers } from '../../../../runtime/auth/jwks/caching.js';
import { ExchangeError, type Exchange } from '../../../../runtime/auth/jwks/exchange.js';
import type { Fetching } from '../../../../runtime/auth/jwks/fetch-document.js';
import type { Jwk } from '../../../../runtime/auth/jwks/jwk.js';
import { readJwkSet } from '../../../../runtime/auth/jwks/jwk-set.js';
import {
  CLIENT_SETS,
  createJwksSource,
  SERVER_SETS,
  type JwksSource,
} from '../../../../runtime/auth/jwks/jwks-source.js';
import { selectKey } from '../../../../runtime/auth/jwks/select-key.js';
import { clientKeys, createWorld, publicHalf, type Clock } from './server-fixture.js';

const URL_OF_SET = 'https://app.example/jwks';
let ec: Jwk;
let rsa: Jwk;
beforeAll(async () => {
  ({ ec, rsa } = await clientKeys());
});

describe('the key for a signature', () => {
  const select = (keys: readonly Jwk[], kid = 'k') => selectKey(keys, kid, 'ES384');
  const named = (change: object = {}): Jwk => ({ ...publicHalf(ec), kid: 'k', ...change });

  it('is the only one of its kid and kty', () => {
    expect(select([named()])).toHaveProperty('key');
    expect(select([{ ...publicHalf(rsa), kid: 'k' }, named()])).toMatchObject({ key: { kty: 'EC' } });
    expect(select([named({ kid: 'K' })])).toEqual({ missing: 'unknown' });
    expect(select([named(), named({ use: 'enc' })])).toEqual({ missing: 'ambiguous' });
  });

  it.each([
    ['another curve', { crv: 'P-256' }, 'unfit'],
    ['another alg', { alg: 'ES256' }, 'unfit'],
    ['use enc', { use: 'enc' }, 'unfit'],
    ['key_ops without verify', { key_ops: ['sign'] }, 'unfit'],
    ['key_ops that are no list', { key_ops: 'verify' }, 'unfit'],
    ['a broken point', { x: 'AA' }, 'unfit'],
  ])('is none with %s', (_name, change, missing) => {
    expect(select([named(change)])).toEqual({ missing });
  });

  it('is one with key_ops, use and alg that fit', () => {
    expect(select([named({ key_ops: ['verify'], use: 'sig', alg: 'ES384' })])).toHaveProperty('key');
  });
});

describe('addresses', () => {
  it.each(['8.8.8.8', '1.1.1.1', '172.32.0.1', '2606:4700::1111', '2a00:1450:4001::200e', '::ffff:8.8.8.8'])(
    '%s is public',
    (address) => expect(isPublic(address)).toBe(true),
  );
  it.each([
    ...[
      '127.0.0.1',
      '127.9.9.9',
      '0.0.0.0',
      '10.1.2.3',
      '172.16.0.1',
      '172.31.255.255',
      '192.168.1.1',
      '169.254.169.254',
    ],
    ...['100.64.0.1', '224.0.0.1', '255.255.255.255', '240.0.0.1', '198.18.0.1', '192.0.2.1'],
    ...['::', '::1', 'fe80::1', 'fc00::1', 'fd12::1', 'ff02::1', '2001:db8::1', '64:ff9b::a00:1', '2002:a00:1::'],
    ...['::ffff:127.0.0.1', '::ffff:7f00:1', '0:0:0:0:0:ffff:a9fe:a9fe', '::127.0.0.1', '::ffff:0:127.0.0.1'],
    ...['fe80::1%eth0', 'localhost', '', '1.2.3', '0x7f.1'],
  ])('%s is not', (address) => expect(isPublic(address)).toBe(false));

  it('ranges hold what they say, IPv4 in the dress of IPv6 too', () => {
    const ranges = readRanges(['10.0.0.0/8', 'fd00::/8', '192.0.2.7']);
    for (const address of ['10.255.0.1', '::ffff:10.0.0.1', 'fd01::1', '192.0.2.7'])
      expect(ranges.has(address)).toBe(true);
    for (const address of ['11.0.0.1', 'fc01::1', '192.0.2.8', 'x']) expect(ranges.has(address)).toBe(false);
    for (const text of ['10.0.0.0/33', 'x/8', '1.2.3.4/-1']) expect(() => readRanges([text])).toThrow(TypeError);
  });
});

describe('the allow list', () => {
  const list = readAllowList(['keys.local', 'keys.local:8443', '10.0.0.0/8', '[::1]:9443', '::1']);
  const fault = (url: string) => list.urlFault(new URL(url));

  it('judges URLs', () => {
    expect(fault('https://app.example/jwks')).toBeUndefined();
    expect(fault('https://app.example:443/jwks')).toBeUndefined();
    expect(fault('https://KEYS.local:8443/jwks')).toBeUndefined();
    expect(fault('https://[::1]:9443/')).toBeUndefined();
    expect(fault('https://app.example:8443/jwks')).toMatch(/port/);
    expect(fault('https://keys.local:8444/jwks')).toMatch(/port/);
    expect(fault('http://app.example/jwks')).toMatch(/https/);
    expect(fault('https://u@app.example/jwks')).toMatch(/user/);
    expect(fault('https://app.example/jwks#x')).toMatch(/fragment/);
  });

  it('judges addresses', () => {
    const admits = (url: string, address: string) => list.admits(new URL(url), address);
    expect(admits('https://app.example/', '8.8.8.8')).toBe(true);
    expect(admits('https://app.example/', '10.1.1.1')).toBe(true);
    expect(admits('https://app.example/', '192.168.1.1')).toBe(false);
    expect(admits('https://keys.local/', '192.168.1.1')).toBe(true);
    expect(admits('https://keys.local:8443/', '127.0.0.1')).toBe(true);
    expect(admits('https://[::1]/', '::1')).toBe(true);
  });

  it.each(['a b', 'u@h', 'h/x/y', 'https://h', 'h?x', '10.0.0.0/99', ''])('refuses the entry %j', (entry) => {
    expect(() => readAllowList([entry])).toThrow(TypeError);
  });
});

describe('caching', () => {
  const bounds = { silent: 300, least: 0, most: 3600 };
  const now = Date.parse('2026-11-22T12:00:00Z');
  it.each<[Headers, number, number]>([
    [{}, 300, 0],
    [{ 'cache-control': 'max-age=60' }, 60, 0],
    [{ 'cache-control': 'public, Max-Age="60"' }, 60, 0],
    [{ 'cache-control': 'max-age=60', age: '45' }, 15, 0],
    [{ 'cache-control': 'max-age=60', age: '90' }, 0, 0],
    [{ 'cache-control': 'max-age=999999' }, 3600, 0],
    [{ 'cache-control': 'max-age=0' }, 0, 0],
    [{ 'cache-control': 'max-age=x' }, 0, 0],
    [{ 'cache-control': 'no-store, max-age=60' }, 0, 0],
    [{ 'cache-control': 'no-cache' }, 0, 0],
    [{ 'cache-control': ['private', 'max-age=5'] }, 5, 0],
    [{ 'cache-control': 'max-age=60, stale-if-error=120' }, 60, 120],
    [{ 'cache-control': 'no-store, stale-if-error=120' }, 0, 0],
    [{ expires: 'Sun, 22 Nov 2026 12:01:00 GMT' }, 60, 0],
    [{ expires: 'Sun, 22 Nov 2026 12:01:00 GMT', date: 'Sun, 22 Nov 2026 12:00:30 GMT' }, 30, 0],
    [{ expires: 'Sun, 22 Nov 2026 12:01:00 GMT', 'cache-control': 'max-age=7' }, 7, 0],
    [{ expires: '0' }, 0, 0],
  ])('%j', (headers, fresh, staleIfError) => {
    expect(readCaching(headers, now, bounds)).toEqual({ fresh, staleIfError });
  });
});

describe('a source of keys', () => {
  let clock: Clock;
  let fetched: number;
  let answer: { status?: number; headers?: Headers; body?: string };
  let fault: Error | undefined;
  let source: JwksSource;
  const exchange: Exchange = async () => {
    fetched += 1;
    await new Promise((resolve) => setTimeout(resolve, 1));
    if (fault !== undefined) throw fault;
    return { status: 200, headers: {}, body: setOf(ec), ...answer };
  };
  const setOf = (...keys: Jwk[]): string => JSON.stringify({ keys: keys.map(publicHalf) });
  const fetching = (): Fetching => ({ exchange, resolve: async () => ['8.8.8.8'], allow: readAllowList([]) });
  const find = async (kid = ec['kid'] as string) => 'key' in (await source.find(URL_OF_SET, kid, 'ES384'));

  beforeEach(() => {
    clock = { time: 1_800_000_000_000 };
    [fetched, answer, fault] = [0, {}, undefined];
    source = createJwksSource(fetching(), CLIENT_SETS, () => clock.time);
  });

  it('fetches once for many, and not again while it is fresh', async () => {
    expect(await Promise.all([find(), find(), find()])).toEqual([true, true, true]);
    clock.time += 299_999;
    expect(await find()).toBe(true);
    expect(fetched).toBe(1);
    clock.time += 1;
    await find();
    expect(fetched).toBe(2);
  });

  it('fetches each time where nothing may be kept', async () => {
    answer = { headers: { 'cache-control': 'no-store' } };
    await find();
    await find();
    expect(fetched).toBe(2);
  });

  it('fetches once more for a kid that it does not know, at most every 30 s; the first fetch does not count', async () => {
    const other = { ...publicHalf(ec), kid: 'new' };
    await find();
    answer = { body: JSON.stringify({ keys: [publicHalf(ec), other] }) };
    expect(await find('new')).toBe(true);
    expect(fetched).toBe(2);
    for (let n = 0; n < 20; n += 1) expect(await find(`x${n}`)).toBe(false);
    expect(fetched).toBe(2);
    clock.time += 30_000;
    expect(await find('x')).toBe(false);
    expect(fetched).toBe(3);
    // What has just been fetched is not fetched again.
    source = createJwksSource(fetching(), CLIENT_SETS, () => clock.time);
    expect(await find('y')).toBe(false);
    expect(fetched).toBe(4);
  });

  it('never falls back to what is stale, but where the server allowed it', async () => {
    answer = { headers: { 'cache-control': 'max-age=10' } };
    await find();
    fault = new ExchangeError('down');
    expect(await find()).toBe(true);
    clock.time += 10_000;
    await expect(find()).rejects.toThrow(ExchangeError);
    fault = undefined;
    answer = { headers: { 'cache-control': 'max-age=10, stale-if-error=60' } };
    await find();
    fault = new ExchangeError('down');
    clock.time += 69_999;
    expect(await find()).toBe(true);
    clock.time += 1;
    await expect(find()).rejects.toThrow(ExchangeError);
  });

  it('an unknown kid does not spoil what is fresh', async () => {
    await find();
    fault = new ExchangeError('down');
    expect(await find('x')).toBe(false);
    expect(await find()).toBe(true);
  });

  it.each([
    ['another status', { status: 301, headers: { location: 'https://elsewhere.example' } }],
    ['no content', { status: 204, body: '' }],
    ['no JSON', { body: '<html>' }],
    ['no keys', { body: '{}' }],
    ['keys that are no list', { body: '{"keys":{}}' }],
    ['a large set', { body: JSON.stringify({ keys: [], x: 'x'.repeat(66_000) }) }],
    ['101 keys', { body: JSON.stringify({ keys: Array.from({ length: 101 }, () => ({})) }) }],
  ])('has nothing of a server that answers with %s', async (_name, wrong) => {
    answer = wrong;
    await expect(find()).rejects.toThrow(ExchangeError);
  });

  it('passes over keys that cannot be used', async () => {
    const [{ d }, bare] = [ec as { d: string }, publicHalf(ec)];
    answer = { body: JSON.stringify({ keys: [null, 7, { kty: 'EC' }, { ...bare, kid: undefined }, { ...bare, d }] }) };
    expect(await find()).toBe(false);
    expect(readJwkSet('{"keys":[null]}')).toEqual({ keys: [null] });
  });

  it.each<[string, () => Jwk, 'RS384' | 'ES384']>([
    ['RSA with exponent 1', () => ({ ...publicHalf(rsa), e: 'AQ' }), 'RS384'],
    ['RSA with an even exponent', () => ({ ...publicHalf(rsa), e: 'AQAC' }), 'RS384'],
    ['RSA with an even modulus', () => ({ ...publicHalf(rsa), n: `${String(rsa['n']).slice(0, -2)}AA` }), 'RS384'],
    ['EC off its curve', () => ({ ...publicHalf(ec), y: publicHalf(ec)['x'] }), 'ES384'],
  ])('a key that anyone can sign for was taken from a fetched set: %s', async (_name, weak, alg) => {
    answer = { body: JSON.stringify({ keys: [weak()] }) };
    expect(await source.find(URL_OF_SET, weak()['kid'] as string, alg)).toEqual({ missing: 'unfit' });
    answer = { body: setOf(rsa, ec) };
    clock.time += 300_000;
    expect(await source.find(URL_OF_SET, weak()['kid'] as string, alg)).toHaveProperty('key');
  });

  it('keeps the sets of a server for a minute at least, and an hour at most', async () => {
    source = createJwksSource(fetching(), SERVER_SETS, () => clock.time);
    answer = { headers: { 'cache-control': 'no-store' } };
    await find();
    clock.time += 59_999;
    await find();
    expect(fetched).toBe(1);
  });

  it.each([
    ['a private address', URL_OF_SET, ['10.0.0.1']],
    ['a public and a private address', URL_OF_SET, ['8.8.8.8', '169.254.169.254']],
    ['no address', URL_OF_SET, []],
    ['a literal loopback', 'https://127.0.0.1/jwks', ['8.8.8.8']],
    ['a number for loopback', 'https://2130706433/jwks', ['8.8.8.8']],
    ['a literal of IPv6', 'https://[::ffff:127.0.0.1]/jwks', ['8.8.8.8']],
    ['another port', 'https://app.example:8443/jwks', ['8.8.8.8']],
    ['http', 'http://app.example/jwks', ['8.8.8.8']],
    ['a file', 'file:///etc/passwd', ['8.8.8.8']],
    ['rubbish', 'x', ['8.8.8.8']],
  ])('does not connect to %s', async (_name, url, addresses) => {
    source = createJwksSource({ exchange, resolve: async () => addresses, allow: readAllowList([]) }, CLIENT_SETS);
    await expect(source.find(url, 'k', 'ES384')).rejects.toThrow(ExchangeError);
    expect(fetched).toBe(0);
  });

  it('connects only to what was checked', async () => {
    let addresses: unknown;
    const looking: Exchange = async (request, limits) => ((addresses = request.addresses), exchange(request, limits));
    source = createJwksSource({ ...fetching(), exchange: looking }, CLIENT_SETS);
    await find();
    expect(addresses).toEqual(['8.8.8.8']);
  });
});

describe('a client that is registered by URL', () => {
  let answer: { keys: readonly Jwk[] };
  const jwks = createJwksSource(
    {
      exchange: async () => ({
        status: 200,
        headers: { 'cache-control': 'max-age=100' },
        body: JSON.stringify(answer),
      }),
      resolve: async () => ['8.8.8.8'],
    },
    CLIENT_SETS,
  );

  it('gets tokens, and may rotate its keys', async () => {
    const world = await createWorld({ jwks });
    await world.register.add({ id: 'app', scope: 'system/Patient.rs', jwksUrl: URL_OF_SET }, true);
    answer = { keys: [publicHalf(ec)] };
    const jku = { header: { jku: URL_OF_SET } };
    expect((await world.post(await world.form())).status).toBe(200);
    expect((await world.post(await world.form({}, jku))).status).toBe(200);
    answer = { keys: [publicHalf(ec), publicHalf(rsa)] };
    expect((await world.post(await world.form({}, { key: rsa }))).status).toBe(200);
    // Row 13: two keys fit.
    answer = { keys: [publicHalf(ec), { ...publicHalf(ec), use: 'sig' }] };
    await world.register.add({ id: 'app', scope: 'system/Patient.rs', jwksUrl: `${URL_OF_SET}2` }, true);
    world.clock.time += 1000;
    expect((await world.post(await world.form())).status).toBe(401);
    expect(world.events.at(-1)).toMatchObject({
      refusal: 'key',
      detail: expect.stringMatching(/^ambiguous: expected .*, received "/),
    });
  });
});
