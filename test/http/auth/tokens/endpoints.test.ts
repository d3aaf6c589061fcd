import { gzipSync } from 'node:zlib';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';

import { AUTH_DEFAULTS } from '../../../../runtime/auth/server/settings.js';
import { FhirError } from '../../../../runtime/fhir/errors.js';
import { FORM, startAuthorized, type AuthorizedServer, type Got } from '../own-server.js';

let server: AuthorizedServer;
beforeAll(async () => void (server = await startAuthorized()));
afterAll(() => server.close());

const post = (path: string, body: string | Buffer, headers: Record<string, string> = {}) =>
  server.get(path, 'POST', { ...FORM, ...headers }, body);
const contentOf = ({ text }: Got) => JSON.parse(text) as Record<string, unknown>;

describe('the endpoints of the authorization server over HTTP', () => {
  it('give a token that is good for FHIR, until it is revoked', async () => {
    const got = await post('/auth/token', await server.form());
    expect([got.status, got.headers['cache-control'], got.headers.pragma]).toEqual([200, 'no-store', 'no-cache']);
    expect(got.headers['content-type']).toBe('application/json');
    expect(got.headers['x-request-id']).toBeDefined();
    const { access_token: token, ...rest } = contentOf(got);
    expect(rest).toEqual({ token_type: 'bearer', expires_in: 300, scope: 'system/*.cruds' });
    const authorization = { authorization: `Bearer ${String(token)}` };
    expect((await server.get('/fhir/Patient', 'GET', authorization)).status).toBe(200);
    expect((await server.get('/fhir/Patient')).status).toBe(401);

    const revoked = await post('/auth/revoke', `${await server.form()}&token=${String(token)}`);
    expect([revoked.status, revoked.text]).toEqual([200, '']);
    const refused = await server.get('/fhir/Patient', 'GET', authorization);
    expect([refused.status, refused.headers['www-authenticate']]).toEqual([
      401,
      'Bearer realm="fhir", error="invalid_token", error_description="The token is not valid here"',
    ]);
  });

  it.each(['/auth/token', '/auth/introspect', '/auth/revoke'])(
    '%s answers POST alone, and always in JSON',
    async (path) => {
      for (const method of ['GET', 'PUT', 'DELETE', 'PATCH']) {
        const got = await server.get(path, method, { accept: 'text/html' });
        expect([method, got.status, got.headers.allow, contentOf(got)['error']]).toEqual([
          method,
          405,
          'POST',
          'invalid_request',
        ]);
      }
      const head = await server.get(path, 'HEAD');
      expect([head.status, head.text]).toEqual([405, '']);
      const options = await server.get(path, 'OPTIONS');
      expect([options.status, options.text, options.headers['access-control-allow-origin']]).toEqual([
        204,
        '',
        undefined,
      ]);
    },
  );

  it.each<[string, string | Buffer, Record<string, string>, number]>([
    ['JSON', '{"grant_type":"client_credentials"}', { 'content-type': 'application/json' }, 400],
    ['more than 64 KiB', `x=${'y'.repeat(70_000)}`, {}, 413],
    ['more than 64 KiB without a length', `x=${'y'.repeat(200_000)}`, { 'transfer-encoding': 'chunked' }, 413],
    ['more than 64 KiB of gzip', gzipSync(`x=${'y'.repeat(70_000)}`), { 'content-encoding': 'gzip' }, 413],
    ['an encoding that nobody reads', 'x=y', { 'content-encoding': 'br' }, 415],
    ['gzip that is none', 'x=y', { 'content-encoding': 'gzip' }, 400],
    ['bytes that are no UTF-8', Buffer.from('scope=\xff', 'latin1'), {}, 400],
  ])('refuse %s as OAuth has it', async (_what, body, headers, status) => {
    const got = await post('/auth/token', body, headers);
    expect(got.status).toBe(status);
    expect(contentOf(got)).toMatchObject({ error: 'invalid_request' });
    expect(got.headers['cache-control']).toBe('no-store');
  });

  it('say to the log alone what was wrong', async () => {
    const form = new URLSearchParams(await server.form());
    form.set('client_assertion', `${form.get('client_assertion')!.slice(0, -8)}AAAAAAAA`);
    const got = await post('/auth/token', form.toString());
    expect([got.status, contentOf(got)]).toEqual([
      401,
      { error: 'invalid_client', error_description: 'The client could not be authenticated' },
    ]);
    const id = got.headers['x-request-id'];
    const line = `token endpoint: client "app" (not authenticated) at 127.0.0.1: signature, request ${id}`;
    expect(server.logged.notes.at(-1)).toBe(line);
  });

  it('a token that FHIR did not take was logged without the request, what was expected and what came', async () => {
    const first = await startAuthorized();
    const token = contentOf(await first.get('/auth/token', 'POST', FORM, await first.form()))['access_token'] as string;
    await first.register.remove('app');
    const other = await startAuthorized({}, first.store);
    try {
      const ask = (authorization: string) =>
        other.get('/fhir/Patient', 'GET', { authorization: `Bearer ${authorization}`, 'x-request-id': 'mine' });
      expect((await ask(token)).status).toBe(401);
      const from = `issuer (expected ${other.root}, received "${first.root}")`;
      expect(other.logged.notes.at(-1)).toBe(`a token is not taken: ${from}, request mine`);
      const [, payload, signature] = token.split('.');
      const header = Buffer.from('{"alg":"none","kid":"k","typ":"at+jwt"}').toString('base64url');
      expect((await ask(`${header}.${payload}.${signature}`)).status).toBe(401);
      expect(other.logged.notes.at(-1)).toBe(
        'a token is not taken: alg (expected ES384, received "none"), request mine',
      );
      expect(other.logged.notes.join()).not.toContain(signature);
    } finally {
      await Promise.all([first.close(), other.close()]);
    }
  });

  it('take a body that is compressed', async () => {
    const body = gzipSync(await server.form());
    expect((await post('/auth/token', body, { 'content-encoding': 'gzip' })).status).toBe(200);
  });

  it('see all headers Authorization of a request', async () => {
    const headers = { ...FORM, authorization: ['Bearer a', 'Basic b'] as unknown as string };
    const got = await server.get('/auth/introspect', 'POST', headers, 'token=x');
    expect([got.status, contentOf(got)['error']]).toEqual([400, 'invalid_request']);
  });

  it('are told from what is not there', async () => {
    for (const path of ['/auth', '/auth/', '/auth/token/', '/auth/tokens', '/AUTH/token', '/auth/jwks.json/x']) {
      const got = await post(path, await server.form());
      expect([path, got.status, contentOf(got)['resourceType']]).toEqual([path, 404, 'OperationOutcome']);
    }
  });

  it('say it where the store does not work', async () => {
    const { maps } = server.store;
    const form = await server.form();
    const { get } = maps;
    const broken = { ...maps, get: () => Promise.reject(new FhirError('store-unavailable')) };
    Object.assign(maps, broken);
    try {
      // What a process knows it knows for less than a second.
      await new Promise((resolve) => setTimeout(resolve, 800));
      for (const got of [await post('/auth/token', form), await server.get('/auth/jwks.json')]) {
        expect([got.status, got.headers['retry-after'], contentOf(got)['error']]).toEqual([
          503,
          '2',
          'temporarily_unavailable',
        ]);
      }
      expect((await server.get('/fhir/.well-known/smart-configuration')).status).toBe(200);
    } finally {
      Object.assign(maps, { get });
    }
    expect(server.logged.defects).toEqual([]);
  });

  it('turn away who fails too often, by address', async () => {
    const strict = await startAuthorized();
    try {
      const fail = async () => (await strict.get('/auth/token', 'POST', FORM, 'grant_type=x')).status;
      const statuses: number[] = [];
      for (let i = 0; i < AUTH_DEFAULTS.failures.address; i++) statuses.push(await fail());
      expect(new Set(statuses)).toEqual(new Set([400]));
      expect([await fail(), await fail()]).toEqual([429, 429]);
      const good = await strict.get('/auth/token', 'POST', FORM, await strict.form());
      expect([good.status, Number(good.headers['retry-after']) > 0]).toEqual([429, true]);
    } finally {
      await strict.close();
    }
  });
});
