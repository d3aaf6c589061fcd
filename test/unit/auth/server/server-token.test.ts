import { beforeEach, describe, expect, it } from 'vitest';

import { decodeJws, generateKey } from '../../../../runtime/auth/keys/jws.js';
import { FhirError } from '../../../../runtime/fhir/errors.js';
import {
  ADDRESSES,
  contentOf,
  createWorld,
  publicHalf,
  rawJws as raw,
  SETTINGS,
  type World,
} from './server-fixture.js';

let world: World;
beforeEach(async () => {
  world = await createWorld();
});

const seconds = (): number => world.clock.time / 1000;

describe('the token endpoint gives', () => {
  it.each(['ec', 'rsa'] as const)('a token for an assertion signed with %s', async (kind) => {
    const body = await world.form(
      { scope: 'system/Patient.rs system/Observation.read x/y' },
      { key: world.keys[kind] },
    );
    const reply = await world.post(body);
    expect(reply.status).toBe(200);
    expect(reply.headers).toMatchObject({ 'Cache-Control': 'no-store', Pragma: 'no-cache' });
    const { access_token: text, ...rest } = contentOf(reply);
    // Row 31: what is not permitted is left out.
    expect(rest).toEqual({ token_type: 'bearer', expires_in: 300, scope: 'system/Patient.rs system/Observation.read' });
    expect(text).toMatch(/^[A-Za-z0-9._-]{1,4095}$/);
    const { header, payload } = decodeJws(text as string)!;
    expect(header).toMatchObject({ alg: 'ES384', typ: 'at+jwt' });
    const iat = Math.floor(seconds());
    expect(payload).toEqual({
      iss: ADDRESSES.issuer,
      sub: 'app',
      client_id: 'app',
      aud: ADDRESSES.audience,
      iat,
      exp: iat + 300,
      jti: payload['jti'],
      registration: expect.stringMatching(/^[\w-]{12}$/) as string,
      scope: 'system/Patient.rs system/Observation.rs',
      spelled: 'system/Patient.rs system/Observation.read',
    });
    expect(world.events[0]).toEqual({
      endpoint: 'token',
      outcome: 'success',
      time: world.clock.time,
      address: '192.0.2.7',
      status: 200,
      clientId: 'app',
      isVerified: true,
      request: expect.stringContaining('grant_type=client_credentials') as string,
      scope: 'system/Patient.rs system/Observation.rs',
      jti: payload['jti'],
    });
    expect(JSON.stringify(world.events)).not.toMatch(/eyJ/);
  });

  it.each([
    ['aud in a list', { claims: { aud: ['x', ADDRESSES.token] } }],
    ['typ in small letters', { header: { typ: 'jwt' } }],
    ['exp with a fraction', { claims: { exp: Date.parse('2026-11-22T12:00:00Z') / 1000 + 100.5 } }],
    ['iat and nbf', { claims: { iat: 1, nbf: 1 } }],
    ['jwk, x5c in the header: ignored', { header: { jwk: { kty: 'oct' }, x5c: ['x'], x5u: 'https://evil.example' } }],
  ])('a token where the assertion has %s', async (_name, change) => {
    expect((await world.post(await world.form({}, change))).status).toBe(200);
  });

  it('a token for its own resource, whatever else there is', async () => {
    const form = {
      resource: ADDRESSES.audience,
      requested_token_type: 'urn:ietf:params:oauth:token-type:jwt',
      client_id: 'app',
      foo: 'bar',
      client_secret: '',
    };
    const request = {
      headers: { authorization: 'Bearer x' },
      query: 'a=1',
      contentType: 'Application/X-WWW-Form-URLEncoded;charset="UTF-8"',
    };
    expect((await world.post(await world.form(form), request)).status).toBe(200);
  });

  it('with the edges of clocks at 30 s', async () => {
    world.clock.time = 1_800_000_000_000;
    const status = async (claimed: object) =>
      (await world.post(await world.form({}, { claims: { ...claimed } }))).status;
    const now = seconds();
    expect(await status({ exp: now - 30 })).toBe(200);
    expect(await status({ exp: now - 30.001 })).toBe(401);
    expect(await status({ exp: now + 330 })).toBe(200);
    expect(await status({ exp: now + 330.001 })).toBe(401);
    expect(await status({ nbf: now + 30, iat: now + 30 })).toBe(200);
    expect(await status({ nbf: now + 30.001 })).toBe(401);
    expect(await status({ iat: now + 30.001 })).toBe(401);
  });

  it('the issuer as audience only where that is set', async () => {
    const open = world.open({ ...SETTINGS, acceptsIssuerAsAudience: true });
    const body = await world.form({}, { claims: { aud: ADDRESSES.issuer } });
    expect((await world.post(body, {}, open.token)).status).toBe(200);
  });

  it("a client's own lifetime, and never more than the server's", async () => {
    const jwks = { keys: [publicHalf(world.keys.ec)] };
    await world.register.add({ id: 'app', scope: 'system/Patient.rs', lifetime: 60, jwks }, true);
    expect(contentOf(await world.post(await world.form()))['expires_in']).toBe(60);
  });

  it('only what is signed as the client is registered for', async () => {
    const jwks = { keys: [publicHalf(world.keys.ec), publicHalf(world.keys.rsa)] };
    await world.register.add({ id: 'app', scope: 'system/Patient.rs', algorithms: ['ES384'], jwks }, true);
    expect((await world.post(await world.form({}, { key: world.keys.rsa }))).status).toBe(401);
    expect((await world.post(await world.form())).status).toBe(200);
  });
});

describe('an assertion is good once', () => {
  it('of 50 at once on two processes one gets a token', async () => {
    const body = await world.form();
    const two = world.open();
    const sent = Array.from({ length: 50 }, (_, n) =>
      world.post(body, { address: `192.0.2.${n}` }, n % 2 === 0 ? world.server.token : two.token),
    );
    const statuses = (await Promise.all(sent)).map(({ status }) => status);
    expect(statuses.filter((status) => status === 200)).toHaveLength(1);
    expect(statuses.filter((status) => status === 401)).toHaveLength(49);
    expect(world.events.filter(({ refusal }) => refusal === 'replay')).toHaveLength(49);
  });

  it('as long as it is accepted, and for the client alone', async () => {
    const exp = Math.floor(seconds()) + 330;
    const claimed = { exp, jti: 'one' };
    const body = await world.form({}, { claims: claimed });
    expect((await world.post(body)).status).toBe(200);
    const other = await generateKey('ES384');
    await world.register.add({ id: 'other', scope: 'system/Patient.rs', jwks: { keys: [publicHalf(other)] } });
    const theirs = { claims: { ...claimed, iss: 'other', sub: 'other' }, key: other };
    expect((await world.post(await world.form({}, theirs))).status).toBe(200);
    world.clock.time = (exp + 30) * 1000;
    expect((await world.post(body)).status).toBe(401);
    expect(world.events.at(-1)?.refusal).toBe('replay');
    world.clock.time += 1;
    expect((await world.post(body)).status).toBe(401);
    expect(world.events.at(-1)?.refusal).toBe('expiry');
  });

  it('used up by a later failure, but not by a wrong signature', async () => {
    const claimed = { claims: { jti: 'one' } };
    const forged = { ...claimed, key: { ...(await generateKey('ES384')), kid: world.keys.ec.kid } };
    expect((await world.post(await world.form({}, forged))).status).toBe(401);
    expect((await world.post(await world.form({ scope: 'x' }, claimed))).status).toBe(400);
    expect((await world.post(await world.form({}, claimed))).status).toBe(401);
    expect(world.events.map(({ refusal }) => refusal)).toEqual(['signature', 'scope-empty', 'replay']);
  });

  it('and not used up where the grant_type is wrong', async () => {
    const body = await world.form();
    expect((await world.post(body.replace('client_credentials', 'x'))).status).toBe(400);
    expect((await world.post(body)).status).toBe(200);
  });
});

describe('too many failures', () => {
  const fail = async (iss: string, address: string) => {
    const client_assertion = raw({ alg: 'none' }, { iss });
    return (await world.post(await world.form({ client_assertion }), { address })).status;
  };

  it('of one client at one address are turned away, before anything is evaluated', async () => {
    for (let n = 0; n < 60; n += 1) expect(await fail('app', '192.0.2.7')).toBe(401);
    const body = await world.form();
    const reply = await world.post(body);
    expect(reply.status).toBe(429);
    expect(reply.headers['Retry-After']).toBe('60');
    expect(contentOf(reply)['error']).toBe('temporarily_unavailable');
    // Neither other clients there, nor the client elsewhere; and the assertion is not used up.
    expect(await fail('other', '192.0.2.7')).toBe(401);
    expect((await world.post(body, { address: '192.0.2.8' })).status).toBe(200);
    world.clock.time += 60_000;
    expect((await world.post(await world.form())).status).toBe(200);
  });

  it('of one address are, and of a network of IPv6', async () => {
    for (let n = 0; n < 600; n += 1) expect(await fail(`c${n}`, `2001:db8::${n.toString(16)}`)).toBe(401);
    expect((await world.post(await world.form(), { address: '2001:db8:0:0:1::' })).status).toBe(429);
    expect((await world.post(await world.form(), { address: '2001:db8:0:1::1' })).status).toBe(200);
  });

  it('are not counted where the server is at fault', async () => {
    world.maps.fault = new FhirError('store-unavailable');
    for (let n = 0; n < 61; n += 1) expect((await world.post(await world.form())).status).toBe(503);
    delete world.maps.fault;
    expect((await world.post(await world.form())).status).toBe(200);
  });
});
