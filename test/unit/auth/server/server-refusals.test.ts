import { createHmac } from 'node:crypto';
import { beforeEach, describe, expect, it } from 'vitest';

import { ExchangeError } from '../../../../runtime/auth/jwks/exchange.js';
import { generateKey } from '../../../../runtime/auth/keys/jws.js';
import type { OAuthRequest } from '../../../../runtime/auth/server/messages.js';
import { INTROSPECT_SCOPE } from '../../../../runtime/auth/server/introspection-endpoint.js';
import { FhirError } from '../../../../runtime/fhir/errors.js';
import {
  ADDRESSES,
  contentOf,
  createWorld,
  publicHalf,
  rawJws as raw,
  type AssertionChange,
  type World,
} from './server-fixture.js';

let world: World;
beforeEach(async () => {
  world = await createWorld({
    jwks: {
      async find() {
        throw new ExchangeError('could not be reached (ECONNREFUSED)');
      },
    },
  });
});

const seconds = (): number => world.clock.time / 1000;

/** Rows of authorization.md §2.8. */
interface Row {
  readonly row: number;
  readonly name: string;
  readonly form?: Readonly<Record<string, string | undefined>>;
  readonly assertion?: AssertionChange | (() => Promise<AssertionChange>);
  readonly request?: Partial<OAuthRequest> | ((body: string) => Partial<OAuthRequest>);
  readonly before?: () => unknown;
  readonly status: number;
  readonly error: string;
  readonly refusal: string;
  readonly headers?: Readonly<Record<string, string>>;
}

const invalidClient = { status: 401, error: 'invalid_client' };
const invalidRequest = { status: 400, error: 'invalid_request' };
const claims = (change: object): Pick<Row, 'assertion'> => ({
  assertion: async () => ({ claims: change as AssertionChange['claims'] & object }),
});

const ROWS: readonly Row[] = [
  ...['GET', 'PUT', 'HEAD', 'DELETE'].map((method) => ({
    row: 1,
    name: method,
    request: { method },
    status: 405,
    error: 'invalid_request',
    refusal: 'method',
    headers: { Allow: 'POST' },
  })),
  ...[
    undefined,
    'application/json',
    'multipart/form-data; boundary=x',
    'application/x-www-form-urlencoded; charset=latin1',
  ].map((contentType) => ({
    row: 2,
    name: String(contentType),
    request: { contentType },
    ...invalidRequest,
    refusal: 'media-type',
  })),
  {
    row: 3,
    name: 'too large',
    form: { x: 'x'.repeat(66_000) },
    status: 413,
    error: 'invalid_request',
    refusal: 'body-size',
  },
  {
    row: 4,
    name: 'in the URL',
    request: (body) => ({ query: body, body: '' }),
    ...invalidRequest,
    refusal: 'query-parameters',
  },
  { row: 5, name: 'twice', request: (body) => ({ body: `${body}&scope=x` }), ...invalidRequest, refusal: 'duplicate' },
  {
    row: 5,
    name: 'unknown twice',
    request: (body) => ({ body: `${body}&a=1&a=1` }),
    ...invalidRequest,
    refusal: 'duplicate',
  },
  { row: 5, name: 'bad encoding', request: (body) => ({ body: `${body}&a=%ff` }), ...invalidRequest, refusal: 'form' },
  { row: 6, name: 'absent', form: { grant_type: undefined }, ...invalidRequest, refusal: 'grant-missing' },
  { row: 6, name: 'empty', form: { grant_type: '' }, ...invalidRequest, refusal: 'grant-missing' },
  ...['password', 'authorization_code', 'refresh_token', 'Client_Credentials', 'x'].map((grant_type) => ({
    row: 7,
    name: grant_type,
    form: { grant_type },
    status: 400,
    error: 'unsupported_grant_type',
    refusal: 'grant-unknown',
  })),
  {
    row: 8,
    name: 'nothing',
    form: { client_assertion: undefined, client_assertion_type: undefined },
    ...invalidClient,
    refusal: 'authentication-missing',
  },
  {
    row: 8,
    name: 'a bearer token counts as nothing',
    form: { client_assertion: undefined, client_assertion_type: undefined },
    request: { headers: { authorization: 'Bearer abc' } },
    ...invalidClient,
    refusal: 'authentication-missing',
  },
  {
    row: 9,
    name: 'no type',
    form: { client_assertion_type: undefined },
    ...invalidRequest,
    refusal: 'authentication-half',
  },
  {
    row: 9,
    name: 'only type',
    form: { client_assertion: undefined },
    ...invalidRequest,
    refusal: 'authentication-half',
  },
  {
    row: 10,
    name: 'saml',
    form: { client_assertion_type: 'urn:x:saml2-bearer' },
    ...invalidClient,
    refusal: 'authentication-type',
  },
  ...[
    'x',
    'a.b.c',
    'a.b',
    '...',
    `${raw({ alg: 'ES384' }, {})}=`,
    raw([], {}),
    raw({}, 'text'),
    'x'.repeat(20_000),
  ].map((client_assertion, n) => ({
    row: 11,
    name: `no JWS ${n}`,
    form: { client_assertion },
    ...invalidClient,
    refusal: 'assertion-form',
  })),
  {
    row: 12,
    name: 'none',
    form: { client_assertion: raw({ alg: 'none', kid: 'k', typ: 'JWT' }, { iss: 'app' }) },
    ...invalidClient,
    refusal: 'alg',
  },
  {
    row: 12,
    name: 'HS256 with the public key as the secret',
    form: { client_assertion: 'HMAC' },
    ...invalidClient,
    refusal: 'alg',
  },
  {
    row: 12,
    name: 'RS256',
    assertion: async () => ({ key: world.keys.rsa, header: { alg: 'RS256' } }),
    ...invalidClient,
    refusal: 'alg',
  },
  {
    row: 13,
    name: 'kid missing',
    assertion: async () => ({ header: { kid: undefined } }),
    ...invalidClient,
    refusal: 'kid',
  },
  { row: 13, name: 'kid empty', assertion: async () => ({ header: { kid: '' } }), ...invalidClient, refusal: 'kid' },
  {
    row: 13,
    name: 'kid unknown',
    assertion: async () => ({ header: { kid: 'other' } }),
    ...invalidClient,
    refusal: 'key',
  },
  {
    row: 13,
    name: 'kid of a key of another kty',
    assertion: async () => ({ header: { kid: world.keys.rsa.kid } }),
    ...invalidClient,
    refusal: 'key',
  },
  ...[undefined, '', 'at+jwt', 'dpop+jwt', 'secevent+jwt', 'logout+jwt', 'JWS', 7].map((typ) => ({
    row: 14,
    name: `typ ${typ}`,
    assertion: async () => ({ header: { typ } }),
    ...invalidClient,
    refusal: 'typ',
  })),
  {
    row: 14,
    name: 'crit',
    form: { client_assertion: raw({ alg: 'ES384', kid: 'k', typ: 'JWT', crit: ['x'], x: 1 }, { iss: 'app' }) },
    ...invalidClient,
    refusal: 'crit',
  },
  {
    row: 14,
    name: 'b64',
    form: { client_assertion: raw({ alg: 'ES384', kid: 'k', typ: 'JWT', crit: ['b64'], b64: false }, { iss: 'app' }) },
    ...invalidClient,
    refusal: 'crit',
  },
  {
    row: 15,
    name: 'jku of a client by value',
    assertion: async () => ({ header: { jku: 'https://evil.example/jwks' } }),
    ...invalidClient,
    refusal: 'jku',
  },
  {
    row: 15,
    name: 'another jku',
    before: () => world.register.rotate('app', { jwksUrl: 'https://app.example/jwks' }),
    assertion: async () => ({ header: { jku: 'https://app.example/jwks/' } }),
    ...invalidClient,
    refusal: 'jku',
  },
  {
    row: 16,
    name: 'of another key',
    assertion: async () => ({ key: { ...(await generateKey('ES384')), kid: world.keys.ec.kid } }),
    ...invalidClient,
    refusal: 'signature',
  },
  {
    row: 16,
    name: "under another client's key",
    before: async () => {
      const keys = [publicHalf({ ...(await generateKey('ES384')), kid: world.keys.ec.kid })];
      await world.register.add({ id: 'other', scope: 's', jwks: { keys } });
    },
    ...claims({ iss: 'other', sub: 'other' }),
    ...invalidClient,
    refusal: 'signature',
  },
  { row: 17, name: 'iss unknown', ...claims({ iss: 'nobody', sub: 'nobody' }), ...invalidClient, refusal: 'client' },
  { row: 17, name: 'iss missing', ...claims({ iss: undefined }), ...invalidClient, refusal: 'client' },
  { row: 17, name: 'iss no text', ...claims({ iss: ['app'] }), ...invalidClient, refusal: 'client' },
  { row: 17, name: 'sub another', ...claims({ sub: 'other' }), ...invalidClient, refusal: 'subject' },
  { row: 17, name: 'sub missing', ...claims({ sub: undefined }), ...invalidClient, refusal: 'subject' },
  ...[
    undefined,
    `${ADDRESSES.token}/`,
    ADDRESSES.issuer,
    ADDRESSES.token.toUpperCase(),
    ADDRESSES.token.replace('.example', '.example:443'),
    [],
    ['x'],
  ].map((aud) => ({
    row: 18,
    name: `aud ${JSON.stringify(aud)}`,
    ...claims({ aud }),
    ...invalidClient,
    refusal: 'audience',
  })),
  ...[undefined, 'soon', null].map((exp) => ({
    row: 19,
    name: `exp ${exp}`,
    ...claims({ exp }),
    ...invalidClient,
    refusal: 'expiry',
  })),
  {
    row: 19,
    name: 'past',
    assertion: async () => ({ claims: { exp: seconds() - 31 } }),
    ...invalidClient,
    refusal: 'expiry',
  },
  {
    row: 19,
    name: 'far ahead',
    assertion: async () => ({ claims: { exp: seconds() + 600 } }),
    ...invalidClient,
    refusal: 'expiry',
  },
  {
    row: 20,
    name: 'nbf',
    assertion: async () => ({ claims: { nbf: seconds() + 31 } }),
    ...invalidClient,
    refusal: 'not-before',
  },
  { row: 20, name: 'nbf no number', ...claims({ nbf: 'now' }), ...invalidClient, refusal: 'not-before' },
  {
    row: 20,
    name: 'iat',
    assertion: async () => ({ claims: { iat: seconds() + 31 } }),
    ...invalidClient,
    refusal: 'issued-at',
  },
  ...[undefined, '', 7, 'x'.repeat(256)].map((jti) => ({
    row: 21,
    name: `jti ${jti}`,
    ...claims({ jti }),
    ...invalidClient,
    refusal: 'jti',
  })),
  { row: 22, name: 'client_id', form: { client_id: 'other' }, ...invalidClient, refusal: 'client-id' },
  {
    row: 23,
    name: 'Basic',
    form: { client_assertion: undefined, client_assertion_type: undefined },
    request: { headers: { authorization: 'Basic YTpi' } },
    ...invalidClient,
    refusal: 'authentication-basic',
    headers: { 'WWW-Authenticate': 'Basic realm="token"' },
  },
  {
    row: 24,
    name: 'secret',
    form: { client_assertion: undefined, client_assertion_type: undefined, client_id: 'app', client_secret: 's' },
    ...invalidClient,
    refusal: 'authentication-secret',
  },
  {
    row: 25,
    name: 'Basic and assertion',
    request: { headers: { authorization: 'basic YTpi' } },
    ...invalidRequest,
    refusal: 'authentication-several',
  },
  {
    row: 25,
    name: 'secret and assertion',
    form: { client_secret: 's' },
    ...invalidRequest,
    refusal: 'authentication-several',
  },
  {
    row: 26,
    name: 'JWKS unreachable',
    before: () => world.register.rotate('app', { jwksUrl: 'https://app.example/jwks' }),
    ...invalidClient,
    refusal: 'jwks',
  },
  { row: 27, name: 'disabled', before: () => world.register.disable('app'), ...invalidClient, refusal: 'disabled' },
  {
    row: 28,
    name: 'no grant',
    before: () =>
      world.register.add(
        { id: 'app', scope: INTROSPECT_SCOPE, grants: [], jwks: { keys: [publicHalf(world.keys.ec)] } },
        true,
      ),
    status: 400,
    error: 'unauthorized_client',
    refusal: 'grant-forbidden',
  },
  ...[undefined, '', '   '].map((scope) => ({
    row: 29,
    name: `scope "${scope}"`,
    form: { scope },
    status: 400,
    error: 'invalid_scope',
    refusal: 'scope-missing',
  })),
  {
    row: 30,
    name: 'not registered',
    form: { scope: 'system/Encounter.r' },
    status: 400,
    error: 'invalid_scope',
    refusal: 'scope-empty',
  },
  {
    row: 32,
    name: 'resource',
    form: { resource: 'https://other.example/fhir' },
    status: 400,
    error: 'invalid_target',
    refusal: 'resource',
  },
  {
    row: 32,
    name: 'token type',
    form: { requested_token_type: 'urn:ietf:params:oauth:token-type:saml2' },
    ...invalidRequest,
    refusal: 'token-type',
  },
  {
    row: 33,
    name: 'no store',
    before: () => (world.maps.fault = new FhirError('store-unavailable')),
    status: 503,
    error: 'temporarily_unavailable',
    refusal: 'unavailable',
    headers: { 'Retry-After': '2' },
  },
  {
    row: 33,
    name: 'defect',
    before: () => (world.maps.fault = new Error('secret')),
    status: 500,
    error: 'server_error',
    refusal: 'internal',
  },
];

describe('the token endpoint refuses', () => {
  it.each(ROWS)('$row: $name', async ({ form, assertion, request, before, status, error, refusal, headers = {} }) => {
    await before?.();
    const change = typeof assertion === 'function' ? await assertion() : assertion;
    const isMac = form?.['client_assertion'] === 'HMAC';
    const body = await world.form(isMac ? { client_assertion: macAssertion() } : form, change);
    const reply = await world.post(body, typeof request === 'function' ? request(body) : request);
    expect(reply.status).toBe(status);
    const content = contentOf(reply);
    expect(content['error']).toBe(error);
    expect(content['error_description']).toMatch(/^[\x20-\x21\x23-\x5b\x5d-\x7e]+$/);
    expect(reply.headers).toEqual({
      'Content-Type': 'application/json',
      'Cache-Control': 'no-store',
      Pragma: 'no-cache',
      ...headers,
    });
    expect(world.events).toHaveLength(1);
    expect(world.events[0]).toMatchObject({ endpoint: 'token', status, refusal, address: '192.0.2.7' });
    if (['audience', 'expiry', 'scope-empty', 'typ', 'resource'].includes(refusal)) {
      expect(world.events[0]!.detail).toMatch(/^expected .+, received .+/);
    }
    expect(JSON.stringify(world.events)).not.toMatch(/eyJ/);
    expect(world.defects).toHaveLength(refusal === 'internal' ? 1 : 0);
  });

  it('with one and the same answer whatever is wrong with the authentication', async () => {
    const bodies = [
      await world.form({ client_assertion: 'x' }),
      await world.form({}, { claims: { iss: 'nobody', sub: 'nobody' } }),
      await world.form({}, { claims: { aud: 'x' } }),
      await world.form({}, { header: { kid: 'x' } }),
    ];
    const replies = await Promise.all(bodies.map((body) => world.post(body)));
    for (const reply of replies) expect(reply).toEqual(replies[0]);
  });

  function macAssertion(): string {
    const text = raw({ alg: 'HS256', kid: world.keys.ec.kid, typ: 'JWT' }, { iss: 'app', sub: 'app' }, '').slice(0, -1);
    const key = JSON.stringify(publicHalf(world.keys.ec));
    return `${text}.${createHmac('sha256', key).update(text).digest('base64url')}`;
  }
});
