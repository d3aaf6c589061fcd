import fc from 'fast-check';
import { beforeEach, describe, expect, it } from 'vitest';

import { ADDRESSES, contentOf, createWorld, type World } from './server-fixture.js';

let world: World;
beforeEach(async () => {
  world = await createWorld();
});

describe('whatever is sent', () => {
  const STATUSES = [200, 400, 401, 405, 413, 429];
  const NAMES = ['grant_type', 'scope', 'client_assertion_type', 'client_assertion', 'client_id', 'resource', 'x', ''];

  it('is answered as documented', async () => {
    const good = await world.form();
    const text = fc.oneof(
      fc.string({ unit: 'binary', maxLength: 50 }),
      fc.constantFrom('client_credentials', 'é', '\0'),
    );
    const pairs = fc.array(fc.tuple(fc.constantFrom(...NAMES), text), { maxLength: 8 });
    const body = fc.oneof(
      fc.string({ unit: 'binary', maxLength: 200 }),
      pairs.map((each) => new URLSearchParams(each).toString()),
      pairs.map((each) => `${good}&${new URLSearchParams(each).toString()}`),
      fc
        .tuple(fc.nat(good.length), fc.string({ maxLength: 3 }))
        .map(([at, more]) => good.slice(0, at) + more + good.slice(at)),
    );
    const request = fc.record({
      method: fc.constantFrom('POST', 'POST', 'POST', 'GET', 'post', ''),
      contentType: fc.constantFrom(
        'application/x-www-form-urlencoded',
        'application/x-www-form-urlencoded',
        undefined,
        ';',
        'a/b',
      ),
      query: fc.oneof(fc.constant(''), fc.string({ maxLength: 20 }), fc.constant('scope=x')),
      headers: fc.oneof(
        fc.constant({}),
        fc.string({ maxLength: 30 }).map((authorization) => ({ authorization })),
      ),
      body,
      address: fc.oneof(fc.ipV4(), fc.ipV6(), fc.string({ maxLength: 20 })),
    });
    await fc.assert(
      fc.asyncProperty(request, async (each) => {
        const reply = await world.server.token(each);
        expect(STATUSES).toContain(reply.status);
        expect(reply.headers['Cache-Control']).toBe('no-store');
        if (reply.status !== 200) expect(contentOf(reply)).toHaveProperty('error');
      }),
      { numRuns: 500 },
    );
    expect(world.defects).toEqual([]);
  });

  it('in headers and claims of an assertion that is signed is answered as documented', async () => {
    const value = fc.oneof(fc.jsonValue({ maxDepth: 2 }), fc.constantFrom('app', ADDRESSES.token, 1e300, -1));
    const members = (names: string[]) => fc.dictionary(fc.constantFrom(...names), value, { maxKeys: 2 });
    const changes = fc.record({
      claims: members(['iss', 'sub', 'aud', 'exp', 'nbf', 'iat', 'jti', '__proto__']),
      header: members(['kid', 'typ', 'jku', 'x']),
    });
    await fc.assert(
      fc.asyncProperty(changes, async (change) => {
        const reply = await world.post(await world.form({}, change), { address: '' });
        expect([200, 401, 429]).toContain(reply.status);
      }),
      { numRuns: 200 },
    );
    expect(world.defects).toEqual([]);
  });
});
