import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';

import { generateKey, signJws } from '../../../../runtime/auth/keys/jws.js';
import { publicHalf } from '../../../unit/auth/server/server-fixture.js';
import { makeCertificates, serveTls, type LocalServer } from '../../../unit/auth/server/server-tls.js';
import { FORM, startAuthorized, type AuthorizedServer } from '../own-server.js';

const folder = mkdtempSync(join(tmpdir(), 'kiln-external-'));
let other: LocalServer;
let server: AuthorizedServer;
let issuer: string;
let key: Awaited<ReturnType<typeof generateKey>>;

beforeAll(async () => {
  key = await generateKey('ES384');
  const certificates = makeCertificates('DNS:localhost,IP:127.0.0.1');
  writeFileSync(join(folder, 'ca.pem'), certificates.ca);
  other = await serveTls(certificates, (req, res) => {
    const documents: Record<string, object> = {
      '/.well-known/oauth-authorization-server': {
        issuer,
        token_endpoint: `${issuer}/token`,
        jwks_uri: `${issuer}/jwks`,
        grant_types_supported: ['authorization_code'],
        token_endpoint_auth_methods_supported: ['client_secret_basic'],
        scopes_supported: ['openid'],
      },
      '/jwks': { keys: [publicHalf(key)] },
      // The metadata of another issuer, with much to claim.
      '/.well-known/oauth-authorization-server/foreign': {
        ...{ issuer: 'https://elsewhere.example', token_endpoint: 'https://elsewhere.example/token' },
        ...{ grant_types_supported: ['client_credentials'], scopes_supported: ['openid'] },
        token_endpoint_auth_methods_supported: ['private_key_jwt'],
      },
    };
    const document = documents[req.url ?? ''];
    res.writeHead(document === undefined && req.url?.endsWith('/broken') !== true ? 404 : 200, {
      'Content-Type': 'application/json',
    });
    res.end(req.url?.endsWith('/broken') === true ? '{' : JSON.stringify(document));
  });
  issuer = `https://localhost:${other.port}`;
  server = await startAuthorized({
    'base-url': 'https://fhir.example.org',
    'auth-external-mode': 'jwks',
    'auth-external-issuer': issuer,
    'auth-external-ca': join(folder, 'ca.pem'),
    'auth-external-scopes': '{"fhir.read":"system/*.rs","fhir.admin":"__admin","fhir.none":"nothing"}',
  });
});
afterAll(async () => {
  await Promise.all([other.close(), server.close()]);
  rmSync(folder, { recursive: true });
});

const get = async (path: string, scope: string, claims: object = {}) => {
  const exp = Math.floor(Date.now() / 1000) + 60;
  const all = { iss: issuer, aud: 'https://fhir.example.org/fhir', client_id: 'foreign', exp, scope, ...claims };
  const token = await signJws({ alg: 'ES384', kid: key.kid, typ: 'at+jwt' }, all, key);
  return (await server.get(path, 'GET', { authorization: `Bearer ${token}` })).status;
};

describe('an external authorization server', () => {
  it('decides by its tokens', async () => {
    expect(await get('/fhir/Patient', 'system/Patient.rs')).toBe(200);
    expect(await get('/fhir/Patient', 'system/Observation.rs')).toBe(403);
    expect(await get('/fhir/Patient', 'openid profile')).toBe(403);
    expect(await get('/fhir/Patient', 'system/Patient.rs', { aud: 'https://elsewhere.example/fhir' })).toBe(401);
    expect(server.logged.notes.at(-1)).toMatch(
      /^a token is not taken: audience \(expected https:\/\/fhir\.example\.org\/fhir, received "https:\/\/elsewhere\.example\/fhir"\), request \S+$/,
    );
    expect(await get('/fhir/Patient', 'system/Patient.rs', { iss: 'https://elsewhere.example' })).toBe(401);
  });

  it('has scopes of its own, which mean what the configuration says', async () => {
    expect(await get('/fhir/Patient', 'fhir.read')).toBe(200);
    expect(await get('/fhir/Patient', 'fhir.write')).toBe(403);
  });

  it('is named by the discovery document; we have no endpoints then', async () => {
    const { status, text } = await server.get('/fhir/.well-known/smart-configuration');
    expect([status, JSON.parse(text)]).toMatchObject([
      200,
      { token_endpoint: `${issuer}/token`, jwks_uri: `${issuer}/jwks`, scopes_supported: ['fhir.read'] },
    ]);
    expect(JSON.parse(text)).toMatchObject({
      grant_types_supported: ['authorization_code'],
      token_endpoint_auth_methods_supported: ['client_secret_basic'],
    });
    expect(text).not.toContain('private_key_jwt');
    const { security } = JSON.parse((await server.get('/fhir/metadata')).text).rest[0];
    expect(security.description).toContain(issuer);
    expect(JSON.stringify(security)).not.toMatch(/private_key_jwt|IUA/);
    expect((await server.get('/openapi/system.json')).text).not.toContain('private_key_jwt');
    for (const path of ['/auth/token', '/auth/introspect', '/auth/revoke']) {
      expect((await server.get(path, 'POST', FORM, 'x=y')).status).toBe(404);
    }
    for (const path of ['/auth/jwks.json', '/.well-known/oauth-authorization-server']) {
      expect((await server.get(path)).status).toBe(404);
    }
  });

  describe.each<[string, () => string]>([
    ['cannot be reached', () => 'https://localhost:1'],
    ['is not there', () => `${issuer}/gone`],
    ['is no JSON', () => `${issuer}/broken`],
    ['is that of another issuer', () => `${issuer}/foreign`],
  ])('whose metadata %s', (_, name) => {
    const start = (more: Record<string, string>): Promise<AuthorizedServer> =>
      startAuthorized({
        'base-url': 'https://fhir.example.org',
        'auth-external-mode': 'jwks',
        'auth-external-issuer': name(),
        'auth-external-ca': join(folder, 'ca.pem'),
        ...more,
      });
    const smart = '/fhir/.well-known/smart-configuration';

    it('is claimed to support nothing but what is configured', async () => {
      const started = await start({
        'auth-external-token-endpoint': 'https://tokens.example/token',
        'auth-external-jwks-uri': 'https://tokens.example/jwks',
      });
      const { status, text } = await started.get(smart);
      expect([status, JSON.parse(text)]).toEqual([
        200,
        {
          issuer: name(),
          token_endpoint: 'https://tokens.example/token',
          jwks_uri: 'https://tokens.example/jwks',
          capabilities: ['permission-v2', 'permission-v1'],
        },
      ]);
      const statement = await started.get('/fhir/metadata');
      expect(statement.status).toBe(200);
      const { security } = JSON.parse(statement.text).rest[0];
      expect(security.description).toContain(name());
      expect(JSON.stringify(security)).not.toMatch(/private_key_jwt|client_credentials|SMART-on-FHIR|IUA/);
      expect((await started.get('/openapi/system.json')).text).not.toMatch(/private_key_jwt|clientCredentials/);
      await started.close();
    });

    it('and whose token endpoint is not known has no discovery document, and the rest is served', async () => {
      const started = await start({});
      const { status, text } = await started.get(smart);
      expect([status, text.includes('token_endpoint"'), text.includes('elsewhere.example')]).toEqual([
        503,
        false,
        false,
      ]);
      expect((await started.get('/fhir/metadata')).status).toBe(200);
      expect(started.logged.defects).toEqual([]);
      await started.close();
    });
  });

  it.each([
    [{ 'auth-external-mode': 'jwks' }, 'auth.external.mode needs auth.external.issuer'],
    [{ 'auth-external-issuer': 'https://x' }, 'auth.external.issuer needs auth.external.mode'],
    [{ 'auth-external-mode': 'introspection', 'auth-external-issuer': 'https://x' }, 'needs auth.external.clientId'],
    [
      { 'auth-external-mode': 'jwks', 'auth-external-issuer': 'https://x', 'auth-external-ca': '/nowhere' },
      'auth.external.ca "/nowhere": there is no such file',
    ],
    [{ 'auth-jwks-allow': '10.0.0.0/99' }, 'auth.jwks.allow: '],
  ])('%j is refused at start', async (flags, message) => {
    await expect(startAuthorized(flags as Record<string, string>)).rejects.toThrow(message);
  });
});
