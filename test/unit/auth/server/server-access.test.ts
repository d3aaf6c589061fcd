import { beforeEach, describe, expect, it } from 'vitest';

import { decodeJws, generateKey, signJws } from '../../../../runtime/auth/keys/jws.js';
import type { OAuthReply } from '../../../../runtime/auth/server/messages.js';
import { addressesOf, AUTH_DEFAULTS } from '../../../../runtime/auth/server/settings.js';
import { FhirError } from '../../../../runtime/fhir/errors.js';
import { ADDRESSES, contentOf, createWorld, publicHalf, REGISTERED, type World } from './server-fixture.js';

let world: World;
beforeEach(async () => {
  world = await createWorld();
});

/** Turns one character in the middle of a part. */
function tampered(text: string, part: number): string {
  const parts = text.split('.');
  const at = parts[part]!;
  const middle = Math.floor(at.length / 2);
  parts[part] = at.slice(0, middle) + (at[middle] === 'A' ? 'B' : 'A') + at.slice(middle + 1);
  return parts.join('.');
}

describe('a token', () => {
  it('is good until it expires, in every process', async () => {
    const text = await world.token();
    const exp = Math.floor(world.clock.time / 1000) + 300;
    const expected = { clientId: 'app', scope: 'system/Patient.rs', exp, audience: ADDRESSES.audience };
    for (const { verifier } of [world.server, world.open()]) {
      expect(await verifier.verify(text)).toMatchObject({ token: expected });
    }
    const last = world.open().verifier;
    world.clock.time = exp * 1000 - 1;
    expect(await last.verify(text)).toMatchObject({ token: expected });
    world.clock.time = exp * 1000;
    expect(await last.verify(text)).toEqual({ failure: 'expired' });
    expect(await world.open().verifier.verify(text)).toEqual({ failure: 'expired' });
  });

  it.each<[string, (text: string) => string | Promise<string>]>([
    ['nothing', () => ''],
    ['rubbish', () => 'invalid_token_value'],
    ['another header', (text) => tampered(text, 0)],
    ['other claims', (text) => tampered(text, 1)],
    ['another signature', (text) => tampered(text, 2)],
    ['no signature', (text) => text.split('.').slice(0, 2).join('.') + '.'],
    ['much text', () => 'x'.repeat(100_000)],
    ['an assertion', () => world.assertion()],
    [
      'what a client signed as a token',
      (text) =>
        signJws({ alg: 'ES384', kid: world.keys.ec.kid, typ: 'at+jwt' }, decodeJws(text)!.payload, world.keys.ec),
    ],
    [
      "a stranger's, with our kid",
      async (text) =>
        signJws(
          { alg: 'ES384', kid: decodeJws(text)!.header['kid'] as string, typ: 'at+jwt' },
          decodeJws(text)!.payload,
          await generateKey('ES384'),
        ),
    ],
    [
      'our own signature of another type',
      async (text) => {
        const { kid, jwk } = await world.server.keys.current();
        return await signJws({ alg: 'ES384', kid, typ: 'JWT' }, decodeJws(text)!.payload, jwk);
      },
    ],
    [
      'our own signature for another audience',
      async (text) => {
        const { kid, jwk } = await world.server.keys.current();
        const payload = { ...decodeJws(text)!.payload, aud: 'https://other.example/fhir' };
        return await signJws({ alg: 'ES384', kid, typ: 'at+jwt' }, payload, jwk);
      },
    ],
  ])('is not %s', async (_name, change) => {
    expect(await world.server.verifier.verify(await change(await world.token()))).toMatchObject({ failure: 'invalid' });
  });

  it('of another base URL on the same store is none here', async () => {
    const other = world.open({ ...AUTH_DEFAULTS, addresses: addressesOf('https://other.example') });
    expect(await other.verifier.verify(await world.token())).toMatchObject({ failure: 'invalid' });
  });

  it('of a disabled client is good for nothing within 2 s, and again when it is enabled', async () => {
    const text = await world.token();
    const two = world.open().verifier;
    await two.verify(text);
    await world.register.disable('app');
    world.clock.time += 1500;
    for (const verifier of [world.server.verifier, two]) {
      expect(await verifier.verify(text)).toEqual({ failure: 'invalid', detail: 'client' });
    }
    await world.register.enable('app');
    world.clock.time += 1500;
    expect(await two.verify(text)).toHaveProperty('token');
  });

  it('of a dropped key is good for nothing within 2 s; a planned rotation spoils none', async () => {
    const text = await world.token();
    const two = world.open();
    await two.verifier.verify(text);
    await world.server.keys.rotate();
    world.clock.time += 2000;
    expect(await two.verifier.verify(text)).toHaveProperty('token');
    await world.server.keys.rotate(true);
    world.clock.time += 1500;
    expect(await two.verifier.verify(text)).toEqual({ failure: 'invalid', detail: 'key' });
    expect(await two.verifier.verify(await world.token())).toHaveProperty('token');
  });

  it('is looked up once by many requests, and not at all by the next', async () => {
    const text = await world.token();
    let reads = 0;
    const { get } = world.maps;
    world.maps.get = (map, key) => ((reads += 1), get(map, key));
    const { verifier } = world.open();
    await Promise.all(Array.from({ length: 50 }, async () => verifier.verify(text)));
    expect(reads).toBe(3); // key, client, revocation
    await verifier.verify(text);
    expect(reads).toBe(3);
  });

  it('is not good where the store does not answer', async () => {
    const text = await world.token();
    await world.server.verifier.verify(text);
    world.clock.time += 1000;
    world.maps.fault = new FhirError('store-unavailable');
    await expect(world.server.verifier.verify(text)).rejects.toThrow(FhirError);
  });
});

describe('introspection', () => {
  const ask = async (form: Record<string, string>, authorization?: string) =>
    await world.post(
      new URLSearchParams(form).toString(),
      authorization === undefined ? {} : { headers: { authorization } },
      world.server.introspection,
    );

  it('tells what the token response told', async () => {
    const body = await world.form({ scope: 'system/Observation.read' });
    const { access_token: text, scope } = contentOf(await world.post(body)) as Record<string, string>;
    const reply = await ask({ token: text!, token_type_hint: 'x' }, `bearer ${await world.token('__introspect')}`);
    expect(reply.status).toBe(200);
    expect(reply.headers).toMatchObject({ 'Content-Type': 'application/json', 'Cache-Control': 'no-store' });
    const { iat, exp, jti } = decodeJws(text!)!.payload;
    expect(contentOf(reply)).toEqual({
      active: true,
      scope,
      client_id: 'app',
      token_type: 'Bearer',
      sub: 'app',
      aud: ADDRESSES.audience,
      iss: ADDRESSES.issuer,
      iat,
      exp,
      jti,
    });
    expect(scope).toBe('system/Observation.read');
    expect(JSON.stringify(world.events)).not.toMatch(/eyJ/);
  });

  it('keeps a spelling that does not fit into the token beside it', async () => {
    const scope = Array.from({ length: 300 }, (_, n) => `system/Type${n}.read`).join(' ');
    const jwks = { keys: [publicHalf(world.keys.ec)] };
    await world.register.add({ id: 'app', scope: `${scope} ${REGISTERED}`, jwks }, true);
    const reply = await world.post(await world.form({ scope: scope.split(' ').slice(0, 100).join(' ') }));
    const { access_token: text, scope: told } = contentOf(reply) as Record<string, string>;
    expect(text!.length).toBeLessThan(4096);
    expect(decodeJws(text!)?.payload).not.toHaveProperty('spelled');
    const found = await ask({ token: text! }, `Bearer ${await world.token('__introspect')}`);
    expect(contentOf(found)['scope']).toBe(told);
    // More does not fit at all.
    const refused = await world.post(await world.form({ scope }));
    expect([refused.status, contentOf(refused)['error']]).toEqual([400, 'invalid_scope']);
  });

  it('says of everything else no more than that it is not active', async () => {
    const bearer = `Bearer ${await world.token('__introspect')}`;
    const old = await world.token();
    world.clock.time += 200_000;
    const disabled = await world.token();
    const tokens = ['invalid_token_value', await world.assertion(), 'x'.repeat(20_000), tampered(disabled, 2)];
    for (const token of tokens) expect((await ask({ token }, bearer)).body).toBe('{"active":false}');
    world.clock.time += 100_000;
    const fresh = `Bearer ${await world.token('__introspect')}`;
    expect((await ask({ token: old }, fresh)).body).toBe('{"active":false}');
  });

  it('takes an assertion in place of a bearer, once', async () => {
    const form = { client_assertion: await world.assertion(), token: await world.token() };
    const type = { client_assertion_type: 'urn:ietf:params:oauth:client-assertion-type:jwt-bearer' };
    expect(contentOf(await ask({ ...form, ...type }))['active']).toBe(true);
    expect((await ask({ ...form, ...type })).status).toBe(401);
    // Nor at the token endpoint: the guard is one.
    expect((await world.post(await world.form({ client_assertion: form.client_assertion }))).status).toBe(401);
  });

  it('is refused without what it needs', async () => {
    const token = await world.token();
    const bearer = `Bearer ${await world.token('__introspect')}`;
    const told = async (reply: Promise<OAuthReply>) => {
      const { status, headers } = await reply;
      return [status, headers['WWW-Authenticate'] ?? headers['Allow']];
    };
    expect(await told(ask({ token }))).toEqual([401, 'Bearer realm="introspect"']);
    expect((await ask({ token })).body).toContain('A bearer token or a client assertion is needed');
    expect(await told(ask({ token }, 'Basic YTpi'))).toEqual([401, 'Bearer realm="introspect"']);
    expect(await told(ask({ token }, `Bearer ${token}`))).toEqual([
      403,
      'Bearer realm="introspect", error="insufficient_scope", scope="__introspect"',
    ]);
    expect(await told(ask({ token }, 'Bearer x'))).toEqual([401, 'Bearer realm="introspect", error="invalid_token"']);
    expect((await ask({ token }, 'Bearer')).status).toBe(400);
    expect((await ask({ token }, `${bearer}, ${bearer}`)).status).toBe(400);
    expect((await ask({ token, client_secret: 'x' }, bearer)).status).toBe(400);
    expect((await ask({}, bearer)).status).toBe(400);
    expect(
      (await world.post('token=a&token=b', { headers: { authorization: bearer } }, world.server.introspection)).status,
    ).toBe(400);
    expect(await told(world.post('', { method: 'GET' }, world.server.introspection))).toEqual([405, 'POST']);
    expect((await world.post('', { query: `token=${token}` }, world.server.introspection)).status).toBe(400);
    const { status } = await world.post('{}', { contentType: 'application/json' }, world.server.introspection);
    expect(status).toBe(400);
  });
});

describe('revocation', () => {
  const revoke = async (token: string, change: Record<string, string | undefined> = {}) =>
    await world.post(
      await world.form({ grant_type: undefined, scope: undefined, token, ...change }),
      {},
      world.server.revocation,
    );

  it('ends a token, here at once and elsewhere within 2 s', async () => {
    const [text, other] = [await world.token(), await world.token()];
    const two = world.open();
    await Promise.all([two.verifier.verify(text), world.server.verifier.verify(text)]);
    const reply = await revoke(text, { token_type_hint: 'access_token' });
    expect([reply.status, reply.body]).toEqual([200, '']);
    expect(await world.server.verifier.verify(text)).toEqual({ failure: 'invalid', detail: 'revoked' });
    world.clock.time += 1500;
    expect(await two.verifier.verify(text)).toEqual({ failure: 'invalid', detail: 'revoked' });
    expect(await two.verifier.verify(other)).toHaveProperty('token');
    expect((await revoke(text)).status).toBe(200);
    world.clock.time += 298_000;
    expect(await two.verifier.verify(text)).toHaveProperty('failure');
    expect(world.events.filter(({ endpoint }) => endpoint === 'revocation')).toHaveLength(2);
  });

  it('of what is no token is done already', async () => {
    for (const text of ['x', await world.assertion()]) expect((await revoke(text)).status).toBe(200);
  });

  it('is for the own tokens of a client that says who it is', async () => {
    const other = await generateKey('ES384');
    await world.register.add({ id: 'other', scope: 'system/Patient.rs', jwks: { keys: [publicHalf(other)] } });
    const text = await world.token();
    const theirs = await world.form({ token: text }, { claims: { iss: 'other', sub: 'other' }, key: other });
    const reply = await world.post(theirs, {}, world.server.revocation);
    expect([reply.status, contentOf(reply)['error']]).toEqual([400, 'invalid_grant']);
    expect((await revoke(text, { client_assertion: undefined, client_assertion_type: undefined })).status).toBe(401);
    expect((await revoke('')).status).toBe(400);
    const assertion = await world.assertion();
    expect((await revoke('x', { client_assertion: assertion })).status).toBe(200);
    expect((await revoke('x', { client_assertion: assertion })).status).toBe(401);
    expect(await world.server.verifier.verify(text)).toHaveProperty('token');
  });
});
