import type { SignatureAlgorithm } from '../jwks/algorithms.js';
import type { JwkSet } from '../jwks/jwk.js';

/**
 * Capabilities that the metadata of another authorization server claims. Absent: the metadata does not say, or cannot be
 * fetched.
 */
export interface ClaimedSupport {
  readonly grantTypes?: readonly string[];
  readonly authMethods?: readonly string[];
  readonly algorithms?: readonly string[];
  readonly challengeMethods?: readonly string[];
  readonly scopes?: readonly string[];
}

/** Where clients get tokens, and by what. Of our own server, or of an external one. Absent: not offered, or not known. */
export interface DiscoverySettings {
  readonly issuer: string;
  readonly tokenEndpoint: string;
  readonly introspectionEndpoint?: string;
  readonly revocationEndpoint?: string;
  readonly jwksUri?: string;
  /** What client assertions may be signed with, at our own server. */
  readonly algorithms: readonly SignatureAlgorithm[];
}

/** Where clients of another server get tokens. */
export interface ExternalDiscovery extends Omit<DiscoverySettings, 'algorithms'> {
  readonly claims: ClaimedSupport;
}

/** A document: what it is answered with, to everybody. */
export interface OpenDocument {
  readonly status: number;
  readonly headers: Readonly<Record<string, string>>;
  readonly body: string;
}

/**
 * Scopes that the metadata lists: those of each role, in letters and in words, and the wildcards. service-description.md §5.5
 */
export const SCOPES_SUPPORTED: readonly string[] = [
  'system/*.cruds',
  'system/*.rs',
  'system/*.read',
  'system/*.write',
  'system/*.*',
  'system/Patient.rs',
  'system/Patient.read',
  'system/Patient.search',
  'system/DocumentReference.c',
  'system/DocumentReference.create',
  'system/DocumentReference.rs',
  'system/DocumentReference.read',
  'system/DocumentReference.search',
  'system/Binary.r',
  'system/Binary.read',
  'system/Bundle.r',
  'system/Bundle.read',
];

/** Path below the FHIR base. https://hl7.org/fhir/smart-app-launch/conformance.html */
export const SMART_PATH = '/.well-known/smart-configuration';

const METADATA_SEGMENT = '/.well-known/oauth-authorization-server';
const METHOD = 'private_key_jwt';

/** Caches keep a document no longer, in seconds: a change of a key or an endpoint shows within that time. */
const MAX_AGE = 300;

const CORS = { 'Access-Control-Allow-Origin': '*' };

/** `smart-configuration`: what the resource server tells about where tokens come from. authorization.md §1.3 */
export function smartConfiguration(settings: DiscoverySettings): OpenDocument {
  return documentOf({
    token_endpoint: settings.tokenEndpoint,
    grant_types_supported: ['client_credentials'],
    capabilities: ['client-confidential-asymmetric', 'permission-v2', 'permission-v1'],
    code_challenge_methods_supported: ['S256'],
    token_endpoint_auth_methods_supported: [METHOD],
    token_endpoint_auth_signing_alg_values_supported: settings.algorithms,
    scopes_supported: SCOPES_SUPPORTED,
    introspection_endpoint: settings.introspectionEndpoint,
    revocation_endpoint: settings.revocationEndpoint,
    jwks_uri: settings.jwksUri,
  });
}

/** Capabilities that follow from how clients authenticate. https://hl7.org/fhir/smart-app-launch/conformance.html */
const CAPABILITIES: Readonly<Record<string, string>> = {
  [METHOD]: 'client-confidential-asymmetric',
  client_secret_basic: 'client-confidential-symmetric',
};

/** `smart-configuration` where tokens come from another server: what that one says, and of what it does not say nothing. */
export function externalConfiguration({ claims, ...settings }: ExternalDiscovery): OpenDocument {
  const { grantTypes, authMethods = [], algorithms, challengeMethods, scopes } = claims;
  return documentOf({
    issuer: settings.issuer,
    token_endpoint: settings.tokenEndpoint,
    grant_types_supported: grantTypes,
    // How scopes are written is for this server to say.
    capabilities: [...authMethods.flatMap((method) => CAPABILITIES[method] ?? []), 'permission-v2', 'permission-v1'],
    code_challenge_methods_supported: challengeMethods,
    token_endpoint_auth_methods_supported: claims.authMethods,
    token_endpoint_auth_signing_alg_values_supported: algorithms,
    scopes_supported: scopes,
    introspection_endpoint: settings.introspectionEndpoint,
    revocation_endpoint: settings.revocationEndpoint,
    jwks_uri: settings.jwksUri,
  });
}

/** The metadata of our own authorization server. https://www.rfc-editor.org/rfc/rfc8414; authorization.md §1.4 */
export function serverMetadata(settings: DiscoverySettings): OpenDocument {
  const { introspectionEndpoint, revocationEndpoint, algorithms } = settings;
  const introspects = introspectionEndpoint !== undefined;
  const revokes = revocationEndpoint !== undefined;
  return documentOf({
    issuer: settings.issuer,
    token_endpoint: settings.tokenEndpoint,
    jwks_uri: settings.jwksUri,
    scopes_supported: SCOPES_SUPPORTED,
    response_types_supported: [],
    grant_types_supported: ['client_credentials'],
    token_endpoint_auth_methods_supported: [METHOD],
    token_endpoint_auth_signing_alg_values_supported: algorithms,
    introspection_endpoint: introspectionEndpoint,
    introspection_endpoint_auth_methods_supported: introspects ? ['Bearer', METHOD] : undefined,
    introspection_endpoint_auth_signing_alg_values_supported: introspects ? algorithms : undefined,
    revocation_endpoint: revocationEndpoint,
    revocation_endpoint_auth_methods_supported: revokes ? [METHOD] : undefined,
    revocation_endpoint_auth_signing_alg_values_supported: revokes ? algorithms : undefined,
    access_token_format: ['jwt'],
    code_challenge_methods_supported: ['S256'],
  });
}

/** The keys that verify our tokens. https://www.rfc-editor.org/rfc/rfc7517 */
export function jwksDocument(set: JwkSet): OpenDocument {
  return documentOf({ keys: set.keys });
}

/** Where the metadata of an issuer is: between its host and its path. RFC 8414 §3.1. @throws TypeError for no URL */
export function metadataUrl(issuer: string): string {
  const { origin, pathname } = new URL(issuer);
  return `${origin}${METADATA_SEGMENT}${pathname.replace(/\/+$/, '')}`;
}

/**
 * Returns the answer to a method at the URL of an open document. It depends on neither credentials nor `Accept`. A preflight
 * request is answered to every client, without credentials.
 */
export function answerOpen(method: string, document: OpenDocument): OpenDocument {
  if (method === 'GET') return document;
  if (method === 'HEAD') return { ...document, body: '' };
  if (method === 'OPTIONS') {
    const headers = { ...CORS, 'Access-Control-Allow-Methods': 'GET, HEAD', 'Access-Control-Allow-Headers': '*' };
    return { status: 204, headers: { ...headers, 'Access-Control-Max-Age': '600' }, body: '' };
  }
  return { status: 405, headers: { ...CORS, Allow: 'GET, HEAD, OPTIONS' }, body: '' };
}

/** Members without a value are left out. */
function documentOf(content: Readonly<Record<string, unknown>>): OpenDocument {
  const headers = { 'Content-Type': 'application/json', 'Cache-Control': `public, max-age=${MAX_AGE}`, ...CORS };
  return { status: 200, headers, body: JSON.stringify(content) };
}
