import { beforeEach, describe, expect, it } from 'vitest';

import { jwksDocument, SCOPES_SUPPORTED, serverMetadata } from '../../../../runtime/auth/discovery/documents.js';
import { ExchangeError, type Exchange, type IncomingAnswer } from '../../../../runtime/auth/jwks/exchange.js';
import { decodeJws, generateKey, signJws } from '../../../../runtime/auth/keys/jws.js';
import type { OAuthReply } from '../../../../runtime/auth/server/messages.js';
import { signingKeyFault } from '../../../../runtime/auth/server/client-assertion.js';
import { createExternalServer } from '../../../../runtime/auth/server/external/external-server.js';
import { EXTERNAL_DEFAULTS, type ExternalSettings } from '../../../../runtime/auth/server/external/settings.js';
import { ADDRESSES, createWorld, publicHalf, type World } from './server-fixture.js';

/** Our own authorization server is the external one here. */
let world: World;
let asked: string[];
let fault: Error | undefined;
/** Instead of what the server answers, by the last part of the path. */
let instead: Record<string, { status?: number; body: unknown; headers?: Record<string, string> }>;

const BASE: ExternalSettings = {
  ...EXTERNAL_DEFAULTS,
  mode: 'jwks',
  issuer: ADDRESSES.issuer,
  audience: [ADDRESSES.audience],
};

beforeEach(async () => {
  world = await createWorld();
  asked = [];
  fault = undefined;
  instead = {};
});

const answered = ({ status, headers, body }: OAuthReply): IncomingAnswer => ({
  status,
  headers: Object.fromEntries(Object.entries(headers).map(([name, value]) => [name.toLowerCase(), value])),
  body,
});

const exchange: Exchange = async ({ url, headers, body = '' }) => {
  const name = url.pathname.split('/').at(-1)!;
  asked.push(name);
  if (fault !== undefined) throw fault;
  const other = instead[name];
  if (other !== undefined) {
    return { status: other.status ?? 200, headers: other.headers ?? {}, body: JSON.stringify(other.body) };
  }
  const form = { headers: { authorization: headers['Authorization'] } };
  switch (name) {
    case 'oauth-authorization-server':
      return answered(
        serverMetadata({
          issuer: ADDRESSES.issuer,
          tokenEndpoint: ADDRESSES.token,
          introspectionEndpoint: ADDRESSES.introspection,
          jwksUri: ADDRESSES.jwks,
          algorithms: ['ES384'],
        }),
      );
    case 'jwks.json':
      return answered(jwksDocument(await world.server.keys.published()));
    case 'token':
      return answered(await world.post(body));
    case 'introspect':
      return answered(await world.post(body, form, world.server.introspection));
    default:
      return { status: 404, headers: {}, body: '' };
  }
};

const open = (change: Partial<ExternalSettings> = {}) => openServer(change).verifier;
const openServer = (change: Partial<ExternalSettings> = {}) =>
  createExternalServer(
    { ...BASE, ...change },
    { exchange, resolve: async () => [] },
    (words) => words.filter((word) => word.startsWith('system/')).join(' '),
    () => world.clock.time,
  );

/** A token of the issuer with other claims or header. */
async function forged(claims: object = {}, header: object = {}): Promise<string> {
  const { kid, jwk } = await world.server.keys.current();
  const { payload } = decodeJws(await world.token())!;
  const all = { alg: 'ES384', kid, typ: 'at+jwt', ...header } as const;
  return await signJws(
    all,
    JSON.parse(JSON.stringify({ ...payload, ...claims })) as object as Record<string, unknown>,
    jwk,
  );
}

describe('an external server, by its keys', () => {
  it('is found by its metadata, and its tokens are good', async () => {
    const verifier = open();
    const text = await world.token('system/Patient.rs __introspect');
    expect(await verifier.verify(text)).toEqual({
      token: {
        clientId: 'app',
        scope: 'system/Patient.rs',
        jti: decodeJws(text)!.payload['jti'],
        exp: decodeJws(text)!.payload['exp'],
        issuer: ADDRESSES.issuer,
        audience: ADDRESSES.audience,
      },
    });
    expect(asked).toEqual(['oauth-authorization-server', 'jwks.json']);
    await verifier.verify(text);
    await verifier.verify(await world.token());
    expect(asked).toHaveLength(2);
  });

  it.each<[string, object, object]>([
    ['another issuer', { iss: 'https://evil.example' }, {}],
    ['another audience', { aud: 'https://other.example' }, {}],
    ['no audience', { aud: undefined }, {}],
    ['no end', { exp: undefined }, {}],
    ['no client', { client_id: undefined }, {}],
    ['a beginning in the future', { nbf: 4e9 }, {}],
    ['another type', {}, { typ: 'JWT' }],
    ['no type', {}, { typ: undefined }],
  ])('is refused with %s', async (_name, claims, header) => {
    expect(await open().verify(await forged(claims, header))).toMatchObject({ failure: 'invalid' });
  });

  it('may be spoken of in other ways, where that is set', async () => {
    const scp = ['system/Patient.r', 'openid', 'system/Observation.s'];
    const text = await forged({
      client_id: undefined,
      azp: 'me',
      scope: undefined,
      scp,
      aud: ['x', ADDRESSES.audience],
    });
    expect(await open().verify(text)).toMatchObject({
      token: { clientId: 'me', scope: 'system/Patient.r system/Observation.s' },
    });
    expect(await open({ typ: 'any' }).verify(await forged({}, { typ: undefined }))).toHaveProperty('token');
    expect(await open({ typ: ['JWT'] }).verify(await forged({}, { typ: 'application/jwt' }))).toHaveProperty('token');
    expect(await open({ algorithms: ['RS256'] }).verify(await world.token())).toMatchObject({ failure: 'invalid' });
  });

  it('is followed for 30 s beyond the end of a token', async () => {
    const text = await world.token();
    const { exp } = decodeJws(text)!.payload as { exp: number };
    const verifier = open();
    await verifier.verify(text);
    for (const each of [verifier, open()]) {
      world.clock.time = (exp + 30) * 1000 - 1;
      expect(await each.verify(text)).toHaveProperty('token');
      world.clock.time = (exp + 30) * 1000;
      expect(await each.verify(text)).toEqual({ failure: 'expired' });
    }
  });

  it('is asked for its keys again for a kid that is new, once', async () => {
    const verifier = open();
    await verifier.verify(await world.token());
    await world.server.keys.rotate(true);
    expect(await verifier.verify(await world.token())).toHaveProperty('token');
    const stranger = await generateKey('ES384');
    for (let n = 0; n < 10; n += 1) {
      const text = await signJws(
        { alg: 'ES384', kid: `k${n}`, typ: 'at+jwt' },
        decodeJws(await world.token())!.payload,
        stranger,
      );
      expect(await verifier.verify(text)).toMatchObject({ failure: 'invalid' });
    }
    expect(asked.filter((name) => name === 'jwks.json')).toHaveLength(2);
  });

  it('that is down lets in whom its keys let in, until these are too old; then nobody', async () => {
    const verifier = open();
    await verifier.verify(await world.token());
    fault = new ExchangeError('down');
    expect(await verifier.verify(await world.token())).toHaveProperty('token');
    world.clock.time += 301_000;
    expect(await verifier.verify(await world.token())).toEqual({ failure: 'unavailable', detail: 'down' });
    expect(await open().verify(await world.token())).toMatchObject({ failure: 'unavailable' });
    fault = undefined;
    expect(await verifier.verify(await world.token())).toHaveProperty('token');
  });

  it('is not asked at all for what is not its own', async () => {
    const verifier = open();
    for (const text of ['', 'x', 'a.b.c', await forged({ iss: 'https://evil.example' })]) {
      expect(await verifier.verify(text)).toMatchObject({ failure: 'invalid' });
    }
    expect(asked).toEqual([]);
  });

  it('with the metadata of another issuer is not used, nor is another document of it', async () => {
    instead['oauth-authorization-server'] = {
      body: { issuer: 'https://evil.example', jwks_uri: 'https://evil.example/j' },
    };
    expect(await open().verify(await world.token())).toMatchObject({ failure: 'unavailable' });
    expect(asked).toEqual(['oauth-authorization-server']);
  });

  it('that speaks OpenID Connect is found, too', async () => {
    instead['oauth-authorization-server'] = { status: 404, body: '' };
    instead['openid-configuration'] = { body: { issuer: ADDRESSES.issuer, jwks_uri: ADDRESSES.jwks } };
    const verifier = open();
    expect(await verifier.verify(await world.token())).toHaveProperty('token');
    expect(asked).toEqual(['oauth-authorization-server', 'openid-configuration', 'jwks.json']);
  });

  it('whose keys are not where https is, is not asked', async () => {
    expect(await open({ jwksUri: 'http://kiln.example/auth/jwks.json' }).verify(await world.token())).toMatchObject({
      failure: 'unavailable',
    });
    expect(asked).toEqual([]);
  });
});

describe('our discovery document', () => {
  it('speaks of the external server, as configured or as it says itself', async () => {
    const tokenEndpoint = 'https://as.example/token';
    expect(await openServer().endpoints.discovery()).toEqual({
      issuer: ADDRESSES.issuer,
      tokenEndpoint: ADDRESSES.token,
      introspectionEndpoint: ADDRESSES.introspection,
      jwksUri: ADDRESSES.jwks,
      claims: {
        grantTypes: ['client_credentials'],
        authMethods: ['private_key_jwt'],
        algorithms: ['ES384'],
        challengeMethods: ['S256'],
        scopes: SCOPES_SUPPORTED,
      },
    });
    expect(await openServer({ tokenEndpoint }).endpoints.discovery()).toMatchObject({ tokenEndpoint });
    fault = new ExchangeError('down');
    expect(await openServer({ tokenEndpoint }).endpoints.discovery()).toEqual({
      issuer: ADDRESSES.issuer,
      tokenEndpoint,
      claims: {},
    });
    await expect(openServer().endpoints.discovery()).rejects.toThrow(ExchangeError);
  });
});

describe('an external server, by introspection', () => {
  const mode = async (): Promise<Partial<ExternalSettings>> => {
    const key = await generateKey('ES384');
    await world.register.add({ id: 'kiln', scope: '__introspect', jwks: { keys: [publicHalf(key)] } });
    return { mode: 'introspection', client: { id: 'kiln', key, scope: '__introspect' } };
  };

  it('is asked once a minute for a token, with a bearer of our own', async () => {
    const verifier = open(await mode());
    const text = await world.token();
    const found = await Promise.all([verifier.verify(text), verifier.verify(text)]);
    expect(found[1]).toEqual(found[0]);
    expect(found[0]).toMatchObject({ token: { clientId: 'app', scope: 'system/Patient.rs' } });
    expect(asked).toEqual(['oauth-authorization-server', 'token', 'introspect']);
    world.clock.time += 59_999;
    await verifier.verify(text);
    expect(asked).toHaveLength(3);
    world.clock.time += 1;
    await verifier.verify(text);
    expect(asked.slice(3)).toEqual(['introspect']);
    // The bearer ends: a new one.
    world.clock.time += 250_000;
    expect(await verifier.verify(text)).toMatchObject({ failure: 'invalid' });
    expect(asked.slice(4)).toEqual(['token', 'introspect']);
  });

  it('tells of a revocation within a minute', async () => {
    const verifier = open(await mode());
    const text = await world.token();
    await verifier.verify(text);
    const form = await world.form({ token: text, grant_type: undefined });
    expect((await world.post(form, {}, world.server.revocation)).status).toBe(200);
    world.clock.time += 60_000;
    expect(await verifier.verify(text)).toMatchObject({ failure: 'invalid' });
  });

  it('is asked each time about what is not good, or has no end', async () => {
    const verifier = open(await mode());
    expect(await verifier.verify('x')).toMatchObject({ failure: 'invalid' });
    expect(await verifier.verify('x')).toMatchObject({ failure: 'invalid' });
    expect(asked.filter((name) => name === 'introspect')).toHaveLength(2);
    instead['introspect'] = { body: { active: true, client_id: 'app', scope: 'system/Patient.rs' } };
    expect(await verifier.verify('y')).toMatchObject({ token: { clientId: 'app' } });
    expect(await verifier.verify('y')).toMatchObject({ token: { clientId: 'app' } });
    expect(asked.filter((name) => name === 'introspect')).toHaveLength(4);
  });

  it.each<[string, object]>([
    ['another issuer', { iss: 'https://evil.example' }],
    ['another audience', { aud: ['https://other.example'] }],
    ['an end that is past', { exp: 1 }],
    ['an end that is no number', { exp: 'later' }],
    ['no client', { client_id: undefined }],
    ['active as a text', { active: 'true' }],
  ])('is not believed with %s', async (_name, change) => {
    const verifier = open(await mode());
    const exp = Math.floor(world.clock.time / 1000) + 100;
    instead['introspect'] = { body: { active: true, client_id: 'app', exp, scope: 'system/Patient.rs', ...change } };
    expect(await verifier.verify('x')).toHaveProperty('failure');
  });

  it('that refuses our bearer is asked with a new one, once', async () => {
    const verifier = open(await mode());
    await verifier.verify(await world.token());
    await world.server.keys.rotate(true);
    world.clock.time += 1000;
    expect(await verifier.verify(await world.token())).toHaveProperty('token');
    asked = [];
    instead['introspect'] = { status: 401, body: {} };
    expect(await verifier.verify('x')).toMatchObject({ failure: 'unavailable' });
    expect(asked).toEqual(['introspect', 'token', 'introspect']);
  });

  it('that cannot be asked lets nobody in', async () => {
    const verifier = open(await mode());
    const text = await world.token();
    await verifier.verify(text);
    fault = new ExchangeError('down');
    expect(await verifier.verify(text)).toHaveProperty('token');
    world.clock.time += 60_000;
    expect(await verifier.verify(text)).toEqual({ failure: 'unavailable', detail: 'down' });
    fault = undefined;
    for (const other of [{ status: 500, body: '' }, { body: 'text' }, { body: [] }, { status: 302, body: '' }]) {
      instead['introspect'] = other;
      expect(await verifier.verify(text)).toMatchObject({ failure: 'unavailable' });
    }
    delete instead['introspect'];
    await world.register.disable('kiln');
    world.clock.time += 300_000;
    expect(await verifier.verify(await world.token())).toMatchObject({ failure: 'unavailable' });
  });

  it('is not asked more than it can bear', async () => {
    const verifier = open(await mode());
    const found = await Promise.all(Array.from({ length: 150 }, async (_, n) => verifier.verify(`x${n}`)));
    expect(found.filter((each) => 'failure' in each && each.failure === 'unavailable')).toHaveLength(50);
  });

  it('needs to know who we are', () => {
    expect(() => open({ mode: 'introspection' })).toThrow(/clientId and keyFile/);
  });
});

describe('our own key at another server', () => {
  it('is told to be unfit in words without it', async () => {
    const key = await generateKey('ES384');
    const { d, kid } = key as { d?: string; kid: string };
    expect(signingKeyFault(key)).toBeUndefined();
    expect(signingKeyFault({ ...key, alg: 'ES384', key_ops: ['sign'], use: 'sig' })).toBeUndefined();
    expect(signingKeyFault(publicHalf(key))).toMatch(/no private half/);
    expect(signingKeyFault({ ...key, kid: '' })).toMatch(/no kid/);
    expect(signingKeyFault({ kty: 'oct', k: 'x', d, kid })).toMatch(/neither/);
    expect(signingKeyFault({ ...key, crv: 'P-256' })).toMatch(/neither/);
    expect(signingKeyFault('x')).toMatch(/not a JWK/);
    const client = { id: 'kiln', key: publicHalf(key) };
    expect(() => open({ mode: 'introspection', client })).toThrow(/keyFile: the key has no private half/);
  });
});
