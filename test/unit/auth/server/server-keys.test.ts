import { beforeEach, expect, it } from 'vitest';

import { createServerKeys, KEYS_MAP, type ServerKeys } from '../../../../runtime/auth/keys/server-keys.js';
import { signJws, verifyJws } from '../../../../runtime/auth/keys/jws.js';
import { createToyStore } from '../../../toy/store.js';
import { createTestMaps, type Clock } from './server-fixture.js';

const HOUR = 3600_000;
const DAY = 24 * HOUR;

let clock: Clock;
let maps: ReturnType<typeof createTestMaps>;
let one: ServerKeys;
let two: ServerKeys;

beforeEach(() => {
  clock = { time: Date.parse('2026-11-22T12:00:00Z') };
  maps = createTestMaps(clock);
  [one, two] = [createServerKeys(maps, () => clock.time), createServerKeys(maps, () => clock.time)];
});

const kids = async (keys: ServerKeys) => (await keys.published()).keys.map(({ kid }) => kid);

it('of many processes that need a key at once one makes it, and all sign with it', async () => {
  const processes = Array.from({ length: 12 }, () => createServerKeys(maps, () => clock.time));
  const found = await Promise.all(processes.map(async (keys) => (await keys.current()).kid));
  expect(new Set(found).size).toBe(1);
  expect(await kids(one)).toEqual([found[0]]);
});

it('nothing private is published', async () => {
  const { keys } = await one.published();
  expect(keys).toHaveLength(1);
  expect(Object.keys(keys[0]!).sort()).toEqual(['alg', 'crv', 'kid', 'kty', 'use', 'x', 'y']);
  const { kid, jwk } = await two.current();
  const text = await signJws({ alg: 'ES384', kid, typ: 'at+jwt' }, {}, jwk);
  expect(await verifyJws(text, keys[0]!, 'ES384')).toBe(true);
});

it('the next key is published an hour before it signs, and the last one as long as its tokens may live', async () => {
  const { kid: first } = await one.current();
  clock.time += 30 * DAY - HOUR - 1;
  expect(await kids(one)).toEqual([first]);
  clock.time += 1;
  const [a, b] = await Promise.all([kids(one), kids(two)]);
  expect(a).toEqual(b);
  expect(a).toHaveLength(2);
  const next = a[1];
  clock.time += HOUR - 1;
  expect([(await one.current()).kid, (await two.current()).kid]).toEqual([first, first]);
  clock.time += 1;
  expect([(await one.current()).kid, (await two.current()).kid]).toEqual([next, next]);
  clock.time += 659_999;
  expect(await kids(one)).toEqual([first, next]);
  clock.time += 1;
  expect(await kids(one)).toEqual([next]);
  expect(await two.find(first)).toBeUndefined();
});

it('a server that slept for a year signs with its old key for an hour still', async () => {
  const { kid: first } = await one.current();
  clock.time += 365 * DAY;
  expect((await two.current()).kid).toBe(first);
  clock.time += HOUR;
  expect((await two.current()).kid).not.toBe(first);
});

it('a rotation on demand shows in other processes within 2 s; a second one waits for it', async () => {
  const { kid: first } = await one.current();
  await two.current();
  const rotation = await one.rotate();
  expect(rotation).toEqual({ kid: rotation.kid, from: clock.time + HOUR, isNew: true });
  expect(await two.rotate()).toEqual({ ...rotation, isNew: false });
  clock.time += 1000;
  expect(await kids(two)).toEqual([first, rotation.kid]);
  clock.time += HOUR;
  expect((await two.current()).kid).toBe(rotation.kid);
});

it('many rotations at once make one key', async () => {
  await one.current();
  const made = await Promise.all([one, two, one, two].map((keys) => keys.rotate()));
  expect(new Set(made.map(({ kid }) => kid)).size).toBe(1);
  expect(made.filter(({ isNew }) => isNew)).toHaveLength(1);
});

it('a key that is compromised is dropped at once, and everywhere within 2 s', async () => {
  const { kid: first } = await two.current();
  const { kid, from } = await one.rotate(true);
  expect(from).toBe(clock.time);
  expect(await kids(one)).toEqual([kid]);
  clock.time += 1000;
  expect(await two.find(first)).toBeUndefined();
  expect((await two.current()).kid).toBe(kid);
});

it('a key that another process has just made is found', async () => {
  await two.find('x');
  const { kid: first } = await one.current();
  expect((await two.find(first))?.kid).toBe(first);
  clock.time += 200;
  const { kid } = await one.rotate(true);
  expect((await two.find(kid))?.kid).toBe(kid);
});

it('what is not known is not asked for again and again', async () => {
  await one.current();
  let reads = 0;
  const counted = createServerKeys(
    { ...maps, get: (map, key) => ((reads += 1), maps.get(map, key)) },
    () => clock.time,
  );
  for (let n = 0; n < 50; n += 1) expect(await counted.find(`${n}`)).toBeUndefined();
  expect(reads).toBe(1);
});

it('they are what is in the store, after a restart too', async () => {
  const store = createToyStore();
  const { kid } = await createServerKeys(store.maps).current();
  expect((await createServerKeys(store.maps).current()).kid).toBe(kid);
  expect([...(await store.maps.entries(KEYS_MAP)).keys()]).toEqual(['ring']);
});
