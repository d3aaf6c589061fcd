import { createHmac, randomUUID } from 'node:crypto';
import { afterAll, beforeAll, expect, it } from 'vitest';

import { generateKey, signJws } from '../../../../runtime/auth/keys/jws.js';
import type { Jwk } from '../../../../runtime/auth/jwks/jwk.js';
import { FhirError } from '../../../../runtime/fhir/errors.js';
import type { Store } from '../../../../runtime/store/store.js';
import { publicHalf, rawJws } from '../../../unit/auth/server/server-fixture.js';
import { FORM, startAuthorized, type AuthorizedServer } from '../own-server.js';

type Fields = Readonly<Record<string, string | undefined>>;
type Changes = Readonly<Record<string, unknown>>;

/** A token request that is good but for what stands here. */
interface Request {
  readonly method?: string;
  readonly headers?: Readonly<Record<string, string>>;
  readonly form?: Fields;
  /** Of the assertion. */
  readonly header?: Changes;
  readonly claims?: Changes;
  readonly key?: Jwk;
  /** Instead of the assertion. */
  readonly raw?: string;
  /** Instead of the form, given it. */
  readonly body?: (form: string) => string;
  readonly query?: (form: string) => string;
  readonly before?: () => unknown;
  readonly after?: () => unknown;
}

/** Row of authorization.md §2.8, what is wrong, and the answer. */
type Row = readonly [row: number, what: string, status: number, error: string, request: Request];

/** Every row of §2.8 from outside; in all their forms they are tested at the endpoint itself. */
export function tokenRefusals(open: () => Promise<Store>): void {
  let server: AuthorizedServer;
  let store: Store;
  let key: Jwk;
  let other: Jwk;
  beforeAll(async () => {
    store = await open();
    server = await startAuthorized({}, store);
    ({ key } = server);
    other = await generateKey('ES384');
    const jwks = { keys: [publicHalf(other)] };
    await server.register.add({ id: 'other', scope: 'system/*.r', jwks });
    await server.register.add({ id: 'disabled', scope: 'system/*.r', jwks });
    await server.register.disable('disabled');
    await server.register.add({ id: 'no-grant', scope: '__introspect', grants: [], jwks });
    await server.register.add({ id: 'far', scope: 'system/*.r', jwksUrl: 'https://jwks.invalid/keys' });
  });
  afterAll(async () => {
    await server.close();
    await store.close();
  });
  const seconds = () => Math.floor(Date.now() / 1000);
  const of = (id: string): Request => ({ claims: { iss: id, sub: id } });
  const basic = { authorization: 'Basic YTpi' };
  const none = { client_assertion: undefined, client_assertion_type: undefined };
  const lazily = (make: () => Request): Request => new Proxy({}, { get: (_, name) => Reflect.get(make(), name) as unknown }); // prettier-ignore
  const macked = (): Request => {
    const text = rawJws({ alg: 'HS256', kid: key['kid'], typ: 'JWT' }, { iss: 'app', sub: 'app' }, '').slice(0, -1);
    const mac = createHmac('sha256', JSON.stringify(publicHalf(key)))
      .update(text)
      .digest('base64url');
    return { raw: `${text}.${mac}` };
  };
  let replayed: string | undefined;

  const ROWS: readonly Row[] = [
    [1, 'GET', 405, 'invalid_request', { method: 'GET' }],
    [2, 'JSON', 400, 'invalid_request', { headers: { 'content-type': 'application/json' } }],
    [2, 'multipart', 400, 'invalid_request', { headers: { 'content-type': 'multipart/form-data; boundary=x' } }],
    [3, 'too large', 413, 'invalid_request', { form: { x: 'x'.repeat(66_000) } }],
    [4, 'in the URL', 400, 'invalid_request', { query: (form) => form, body: () => '' }],
    [5, 'twice', 400, 'invalid_request', { body: (form) => `${form}&scope=x` }],
    [6, 'no grant_type', 400, 'invalid_request', { form: { grant_type: undefined } }],
    [6, 'empty grant_type', 400, 'invalid_request', { form: { grant_type: '' } }],
    [7, 'password', 400, 'unsupported_grant_type', { form: { grant_type: 'password' } }],
    [8, 'no credential', 401, 'invalid_client', { form: none }],
    [9, 'assertion without type', 400, 'invalid_request', { form: { client_assertion_type: undefined } }],
    [9, 'type without assertion', 400, 'invalid_request', { form: { client_assertion: undefined } }],
    [10, 'another type', 401, 'invalid_client', { form: { client_assertion_type: 'urn:x:saml2-bearer' } }],
    [11, 'no JWS', 401, 'invalid_client', { raw: 'a.b.c' }],
    [12, 'none', 401, 'invalid_client', { raw: rawJws({ alg: 'none', kid: 'k', typ: 'JWT' }, { iss: 'app' }, '') }],
    [12, 'HS256', 401, 'invalid_client', lazily(macked)],
    [13, 'no kid', 401, 'invalid_client', { header: { kid: undefined } }],
    [13, 'kid unknown', 401, 'invalid_client', { header: { kid: 'x' } }],
    [14, 'no typ', 401, 'invalid_client', { header: { typ: undefined } }],
    [14, 'at+jwt', 401, 'invalid_client', { header: { typ: 'at+jwt' } }],
    [15, 'jku', 401, 'invalid_client', { header: { jku: 'https://evil.example/jwks' } }],
    [16, 'another key', 401, 'invalid_client', lazily(() => ({ key: { ...other, kid: key['kid'] } as Jwk }))],
    [16, "another client's key", 401, 'invalid_client', lazily(() => ({ key: other }))],
    [17, 'iss unknown', 401, 'invalid_client', of('nobody')],
    [17, 'sub another', 401, 'invalid_client', { claims: { sub: 'other' } }],
    [17, 'no iss', 401, 'invalid_client', { claims: { iss: undefined } }],
    [18, 'aud', 401, 'invalid_client', { claims: { aud: 'https://elsewhere.example/token' } }],
    [18, 'no aud', 401, 'invalid_client', { claims: { aud: undefined } }],
    [19, 'no exp', 401, 'invalid_client', { claims: { exp: undefined } }],
    [19, 'exp no number', 401, 'invalid_client', { claims: { exp: 'soon' } }],
    [19, 'exp past', 401, 'invalid_client', lazily(() => ({ claims: { exp: seconds() - 60 } }))],
    [19, 'exp far ahead', 401, 'invalid_client', lazily(() => ({ claims: { exp: seconds() + 600 } }))],
    [20, 'nbf', 401, 'invalid_client', lazily(() => ({ claims: { nbf: seconds() + 60 } }))],
    [20, 'iat', 401, 'invalid_client', lazily(() => ({ claims: { iat: seconds() + 60 } }))],
    [21, 'no jti', 401, 'invalid_client', { claims: { jti: undefined } }],
    [21, 'again', 401, 'invalid_client', { before: async () => { replayed = await formOf({}); await post(replayed); }, body: () => replayed! }], // prettier-ignore
    [22, 'client_id', 401, 'invalid_client', { form: { client_id: 'other' } }],
    [23, 'Basic', 401, 'invalid_client', { form: none, headers: basic }],
    [24, 'client_secret', 401, 'invalid_client', { form: { ...none, client_id: 'app', client_secret: 's' } }],
    [25, 'Basic and assertion', 400, 'invalid_request', { headers: basic }],
    [26, 'JWKS unreachable', 401, 'invalid_client', lazily(() => ({ ...of('far'), key: other }))],
    [27, 'disabled', 401, 'invalid_client', lazily(() => ({ ...of('disabled'), key: other }))],
    [28, 'grant not allowed', 400, 'unauthorized_client', lazily(() => ({ ...of('no-grant'), key: other }))],
    [29, 'no scope', 400, 'invalid_scope', { form: { scope: undefined } }],
    [30, 'scopes unknown', 400, 'invalid_scope', { form: { scope: 'openid system/Nonsense.r system/Patient.sr' } }],
    [32, 'resource', 400, 'invalid_target', { form: { resource: 'https://elsewhere.example/fhir' } }],
    [33, 'no store', 503, 'temporarily_unavailable', { before: () => breakStore(), after: () => mendStore() }],
  ];

  let swap: Store['maps']['swap'] | undefined;
  function breakStore(): void {
    swap = store.maps.swap.bind(store.maps);
    Object.assign(store.maps, { swap: () => Promise.reject(new FhirError('store-unavailable')) });
  }
  function mendStore(): void {
    Object.assign(store.maps, { swap });
  }

  async function formOf({ form = {}, header = {}, claims = {}, key: by = key, raw }: Request): Promise<string> {
    const audience = `${server.root}/auth/token`;
    const own = { iss: 'app', sub: 'app', aud: audience, exp: seconds() + 240, jti: randomUUID(), ...claims };
    const signed = raw ?? (await signJws({ alg: 'ES384', kid: String(by['kid']), typ: 'JWT', ...header }, own, by));
    const all: Fields = {
      grant_type: 'client_credentials',
      scope: 'system/Patient.rs',
      client_assertion_type: 'urn:ietf:params:oauth:client-assertion-type:jwt-bearer',
      client_assertion: signed,
      ...form,
    };
    const present = Object.entries(all).filter((each): each is [string, string] => each[1] !== undefined);
    return new URLSearchParams(present).toString();
  }
  const post = (body: string, { method = 'POST', headers = {} }: Request = {}, query = '') =>
    server.get(`/auth/token${query}`, method, { ...FORM, ...headers }, method === 'GET' ? undefined : body);

  it.each(ROWS)('§2.8 row %i, %s: %i %s', async (row, _, status, error, request) => {
    await request.before?.();
    const form = await formOf(request);
    const query = request.query === undefined ? '' : `?${request.query(form)}`;
    const got = await post(request.body?.(form) ?? form, request, query);
    await request.after?.();
    const content = JSON.parse(got.text) as Record<string, string>;
    expect([got.status, content['error']]).toEqual([status, error]);
    expect(content['error_description']).toMatch(/^[\x20-\x21\x23-\x5b\x5d-\x7e]+$/);
    expect(content['access_token']).toBeUndefined();
    expect(got.headers).toMatchObject({ 'content-type': 'application/json', 'cache-control': 'no-store' });
    expect(got.headers['www-authenticate']).toBe(row === 23 ? 'Basic realm="token"' : undefined);
    expect(got.headers.allow).toBe(row === 1 ? 'POST' : undefined);
    expect(got.headers['retry-after']).toBe(row === 33 ? '2' : undefined);
  });

  it('§2.8 row 31, some scopes permitted: 200 with these', async () => {
    const got = await post(await formOf(lazily(() => ({ ...of('other'), key: other, form: { scope: 'system/Patient.cr openid' } })))); // prettier-ignore
    expect([got.status, (JSON.parse(got.text) as { scope: string }).scope]).toEqual([200, 'system/Patient.r']);
  });

  it('§2.8 row 34, too many failures of one client: 429', async () => {
    const statuses: number[] = [];
    for (let i = 0; i < 60; i++) statuses.push((await post(await formOf({ ...of('many'), header: { kid: 'x' } }))).status); // prettier-ignore
    expect(statuses).toEqual(Array.from({ length: 60 }, () => 401));
    const got = await post(await formOf({ ...of('many'), header: { kid: 'x' } }));
    expect([got.status, Number(got.headers['retry-after']) > 0]).toEqual([429, true]);
  });
}
