import { afterAll, beforeAll, describe, expect, it } from 'vitest';

import { startAuthorized, type AuthorizedServer, type Got } from './own-server.js';

const ROOT = 'https://fhir.example.org/r5';
const SMART = '/fhir/.well-known/smart-configuration';
const METADATA = '/.well-known/oauth-authorization-server';
const JWKS = '/auth/jwks.json';

let server: AuthorizedServer;
beforeAll(async () => void (server = await startAuthorized({ 'base-url': ROOT })));
afterAll(() => server.close());

const contentOf = ({ text }: Got) => JSON.parse(text) as Record<string, unknown>;

describe('documents that everybody may read', () => {
  const places = [SMART, METADATA, JWKS, `/r5${SMART}`, `${METADATA}/r5`, `/r5${JWKS}`];

  it.each(places)('%s is the same JSON whatever is asked for, and by whom', async (path) => {
    const plain = await server.get(path);
    expect([plain.status, plain.headers['content-type']]).toEqual([200, 'application/json']);
    expect(plain.headers).toMatchObject({
      'access-control-allow-origin': '*',
      'cache-control': 'public, max-age=300',
      'x-content-type-options': 'nosniff',
    });
    expect(plain.headers['access-control-allow-credentials']).toBeUndefined();
    for (const headers of [
      { accept: 'application/fhir+xml' },
      { accept: 'text/html' },
      { accept: 'nonsense' },
      { authorization: 'Bearer bad' },
      { authorization: 'Basic eDp5' },
      { host: 'evil.example', 'x-forwarded-host': 'evil.example' },
    ] as Record<string, string>[]) {
      const got = await server.get(`${path}?_format=xml&access_token=x`, 'GET', headers);
      expect([got.status, got.text]).toEqual([200, plain.text]);
    }
    const head = await server.get(path, 'HEAD');
    expect([head.status, head.text, head.headers['content-length']]).toEqual([
      200,
      '',
      plain.headers['content-length'],
    ]);
  });

  it.each(places)('%s answers a preflight to everybody, and no other methods', async (path) => {
    const preflight = { origin: 'https://x.example', 'access-control-request-method': 'GET' };
    const options = await server.get(path, 'OPTIONS', preflight);
    expect([options.status, options.headers['access-control-allow-origin']]).toEqual([204, '*']);
    for (const method of ['POST', 'PUT', 'DELETE']) {
      const got = await server.get(path, method);
      expect([method, got.status, got.headers.allow, got.text]).toEqual([method, 405, 'GET, HEAD, OPTIONS', '']);
    }
  });

  it('name the base URL that is configured', async () => {
    expect(contentOf(await server.get(SMART))).toMatchObject({
      token_endpoint: `${ROOT}/auth/token`,
      introspection_endpoint: `${ROOT}/auth/introspect`,
      revocation_endpoint: `${ROOT}/auth/revoke`,
      jwks_uri: `${ROOT}${JWKS}`,
    });
    expect(contentOf(await server.get(METADATA))).toMatchObject({ issuer: ROOT, token_endpoint: `${ROOT}/auth/token` });
  });

  it('of another path are not there', async () => {
    for (const path of [`${METADATA}/other`, `${METADATA}/`, '/.well-known/smart-configuration', '/.well-known/x']) {
      expect([path, (await server.get(path)).status]).toEqual([path, 404]);
    }
    expect((await server.get('/fhir/.well-known/x')).status).toBe(401);
  });

  it('name where the server listens, where nothing is configured', async () => {
    const local = await startAuthorized();
    try {
      const got = await local.get(SMART, 'GET', { host: 'evil.example' });
      expect(contentOf(got)['token_endpoint']).toBe(`${local.url}/auth/token`);
    } finally {
      await local.close();
    }
  });

  it('/metadata says how access is given', async () => {
    const got = await server.get('/fhir/metadata');
    const [rest] = contentOf(got)['rest'] as [{ security: { service: object[]; extension?: unknown } }];
    const codes = rest.security.service.map((each) => JSON.stringify(each));
    expect(codes).toEqual([expect.stringContaining('"SMART-on-FHIR"'), expect.stringContaining('"IUA"')]);
    expect(got.text).not.toContain('oauth-uris');
  });

  it('/metadata says whether pages of other origins are let in', async () => {
    const open = await startAuthorized({ 'cors-origins': 'https://app.example.org' });
    try {
      for (const [each, cors] of [
        [server, false],
        [open, true],
      ] as const) {
        // prettier-ignore
        const [rest] = contentOf(await each.get('/fhir/metadata'))['rest'] as [{ security: { cors: boolean } }];
        expect(rest.security.cors).toBe(cors);
      }
    } finally {
      await open.close();
    }
  });
});
