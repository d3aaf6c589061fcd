import { describe, expect, it } from 'vitest';

import {
  answerOpen,
  externalConfiguration,
  jwksDocument,
  metadataUrl,
  SCOPES_SUPPORTED,
  serverMetadata,
  smartConfiguration,
  type ClaimedSupport,
  type DiscoverySettings,
} from '../../../../runtime/auth/discovery/documents.js';
import { addressesOf } from '../../../../runtime/auth/server/settings.js';

const own = addressesOf('https://kiln.example/t1/');
const settings: DiscoverySettings = {
  issuer: own.issuer,
  tokenEndpoint: own.token,
  introspectionEndpoint: own.introspection,
  revocationEndpoint: own.revocation,
  jwksUri: own.jwks,
  algorithms: ['RS384', 'ES384'],
};
const HEADERS = {
  'Content-Type': 'application/json',
  'Cache-Control': 'public, max-age=300',
  'Access-Control-Allow-Origin': '*',
};

describe('discovery', () => {
  it('addresses follow from the base URL', () => {
    expect(own).toEqual({
      issuer: 'https://kiln.example/t1',
      audience: 'https://kiln.example/t1/fhir',
      token: 'https://kiln.example/t1/auth/token',
      introspection: 'https://kiln.example/t1/auth/introspect',
      revocation: 'https://kiln.example/t1/auth/revoke',
      jwks: 'https://kiln.example/t1/auth/jwks.json',
    });
  });

  it('smart-configuration says what a backend-only server says', () => {
    const { status, headers, body } = smartConfiguration(settings);
    expect([status, headers]).toEqual([200, HEADERS]);
    expect(JSON.parse(body)).toEqual({
      token_endpoint: 'https://kiln.example/t1/auth/token',
      grant_types_supported: ['client_credentials'],
      capabilities: ['client-confidential-asymmetric', 'permission-v2', 'permission-v1'],
      code_challenge_methods_supported: ['S256'],
      token_endpoint_auth_methods_supported: ['private_key_jwt'],
      token_endpoint_auth_signing_alg_values_supported: ['RS384', 'ES384'],
      scopes_supported: SCOPES_SUPPORTED,
      introspection_endpoint: 'https://kiln.example/t1/auth/introspect',
      revocation_endpoint: 'https://kiln.example/t1/auth/revoke',
      jwks_uri: 'https://kiln.example/t1/auth/jwks.json',
    });
  });

  it('claims of an external server what that one says, and nothing of ours', () => {
    const external = { issuer: 'https://as.example', tokenEndpoint: 'https://as.example/token' };
    const told = (claims: ClaimedSupport) => JSON.parse(externalConfiguration({ ...external, claims }).body) as object;
    expect(
      told({
        grantTypes: ['authorization_code', 'refresh_token'],
        authMethods: ['client_secret_basic', 'none'],
        scopes: ['fhir.read'],
      }),
    ).toEqual({
      issuer: 'https://as.example',
      token_endpoint: 'https://as.example/token',
      grant_types_supported: ['authorization_code', 'refresh_token'],
      token_endpoint_auth_methods_supported: ['client_secret_basic', 'none'],
      capabilities: ['client-confidential-symmetric', 'permission-v2', 'permission-v1'],
      scopes_supported: ['fhir.read'],
    });
    // Its metadata cannot be had: what is certain.
    expect(told({})).toEqual({ ...external, issuer: 'https://as.example', token_endpoint: external.tokenEndpoint, tokenEndpoint: undefined, capabilities: ['permission-v2', 'permission-v1'] }); // prettier-ignore
  });

  it('the metadata of RFC 8414 are complete', () => {
    const { headers, body } = serverMetadata(settings);
    expect(headers).toEqual(HEADERS);
    expect(JSON.parse(body)).toEqual({
      issuer: 'https://kiln.example/t1',
      token_endpoint: 'https://kiln.example/t1/auth/token',
      jwks_uri: 'https://kiln.example/t1/auth/jwks.json',
      scopes_supported: SCOPES_SUPPORTED,
      response_types_supported: [],
      grant_types_supported: ['client_credentials'],
      token_endpoint_auth_methods_supported: ['private_key_jwt'],
      token_endpoint_auth_signing_alg_values_supported: ['RS384', 'ES384'],
      introspection_endpoint: 'https://kiln.example/t1/auth/introspect',
      introspection_endpoint_auth_methods_supported: ['Bearer', 'private_key_jwt'],
      introspection_endpoint_auth_signing_alg_values_supported: ['RS384', 'ES384'],
      revocation_endpoint: 'https://kiln.example/t1/auth/revoke',
      revocation_endpoint_auth_methods_supported: ['private_key_jwt'],
      revocation_endpoint_auth_signing_alg_values_supported: ['RS384', 'ES384'],
      access_token_format: ['jwt'],
      code_challenge_methods_supported: ['S256'],
    });
    expect(body).not.toContain('null');
  });

  it.each([
    ['https://h', 'https://h/.well-known/oauth-authorization-server'],
    ['https://h/', 'https://h/.well-known/oauth-authorization-server'],
    ['https://h:8443/t1', 'https://h:8443/.well-known/oauth-authorization-server/t1'],
  ])('the metadata of %s are at %s', (issuer, url) => expect(metadataUrl(issuer)).toBe(url));

  it('no custom scope is named', () => {
    expect(SCOPES_SUPPORTED.every((scope) => scope.startsWith('system/'))).toBe(true);
  });

  it('open documents are answered by method', () => {
    const document = jwksDocument({ keys: [{ kty: 'EC' }] });
    expect(answerOpen('GET', document)).toEqual({ status: 200, headers: HEADERS, body: '{"keys":[{"kty":"EC"}]}' });
    expect(answerOpen('HEAD', document)).toEqual({ status: 200, headers: HEADERS, body: '' });
    expect(answerOpen('OPTIONS', document)).toMatchObject({
      status: 204,
      headers: { 'Access-Control-Allow-Origin': '*' },
    });
    expect(answerOpen('OPTIONS', document).headers).not.toHaveProperty('Access-Control-Allow-Credentials');
    expect(answerOpen('POST', document)).toMatchObject({ status: 405, headers: { Allow: 'GET, HEAD, OPTIONS' } });
  });
});
