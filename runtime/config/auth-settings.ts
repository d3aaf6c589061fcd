import type { JsonObject } from '../fhir/resource.js';
import { AUTH_DEFAULTS } from '../auth/server/settings.js';
import { EXTERNAL_DEFAULTS } from '../auth/server/external/settings.js';
import { choice, duration, yesOrNo, type Setting } from './setting.js';
import { CLIENTS_SCHEMA, SCOPES_SCHEMA } from './schemas.js';
import { algorithms, httpsUrl, json, rootUrl, text, words } from './setting-kinds.js';

const SECOND = 1000;

const MODE = choice(['jwks', 'introspection'], { help: '', initial: 'jwks' });

const EXTERNAL_MODE: Setting<'jwks' | 'introspection' | undefined> = {
  placeholder: 'MODE',
  help: 'tokens of another server, checked by its keys (jwks) or by asking it (introspection); there is no /auth then',
  initial: undefined,
  initialText: 'none',
  parse: MODE.parse,
};

/** Settings of authorization. */
export const AUTH_SETTINGS = {
  'base-url': rootUrl({
    help: 'root under which clients reach the server, without /fhir: https://fhir.example.org',
    initialText: 'http://HOST:PORT',
  }),
  clients: json(
    {
      help: 'clients that are registered at start: [{id, name, scope, dialect, jwks or jwksUrl, enabled}]',
      initial: [] as JsonObject[],
      show: (clients) => clients.map(({ id }) => String(id)).join(',') || 'none',
    },
    CLIENTS_SCHEMA,
    'has to be a list of objects such as {"id": "lab", "scope": "system/Patient.rs", "jwksUrl": "https://…"}',
  ),
  'auth.lifetime': duration(SECOND, AUTH_DEFAULTS.lifetime * SECOND, {
    help: 'life of a token',
    initial: AUTH_DEFAULTS.lifetime * SECOND,
  }),
  'auth.algorithms': algorithms({
    help: 'what clients may sign their assertions with',
    initial: AUTH_DEFAULTS.algorithms,
  }),
  'auth.acceptsIssuerAsAudience': yesOrNo({
    help: 'whether an assertion may name the issuer as its audience, instead of the token endpoint',
    initial: AUTH_DEFAULTS.acceptsIssuerAsAudience,
  }),
  'auth.jwks.allow': words({
    help: "hosts, host:port and ranges of addresses that clients' JWKS may be fetched from besides public ones",
    initial: [],
  }),
  'auth.jwks.ca': text({ placeholder: 'FILE', help: 'certificates of private authorities for these, in PEM' }),
  'auth.external.mode': EXTERNAL_MODE,
  'auth.external.issuer': httpsUrl({ help: 'its issuer, exactly as in its tokens' }),
  'auth.external.audience': words({
    help: 'audiences of which its tokens have to name one',
    initial: [],
    initialText: 'the FHIR base',
  }),
  'auth.external.jwksUri': httpsUrl({ help: 'its keys', initialText: 'from its metadata' }),
  'auth.external.introspectionEndpoint': httpsUrl({ help: 'where it is asked', initialText: 'from its metadata' }),
  'auth.external.tokenEndpoint': httpsUrl({ help: 'where its tokens come from', initialText: 'from its metadata' }),
  'auth.external.clientId': text({ placeholder: 'ID', help: 'who this server is there, for introspection' }),
  'auth.external.keyFile': text({ placeholder: 'FILE', help: 'private JWK of that client' }),
  'auth.external.scope': text({ help: 'scope to ask for with it' }),
  'auth.external.ca': text({ placeholder: 'FILE', help: 'certificate of its private authority, in PEM' }),
  'auth.external.algorithms': algorithms({
    help: 'what its tokens may be signed with',
    initial: EXTERNAL_DEFAULTS.algorithms,
  }),
  'auth.external.typ': words({
    help: 'what typ the header of its tokens may have; any: none as well',
    initial: ['at+jwt'],
  }),
  'auth.external.scopes': json(
    {
      help: 'what foreign scopes mean: {"fhir.read": "system/*.rs"}; system/ scopes mean themselves',
      initial: {} as JsonObject & Record<string, string>,
      show: (table) => Object.keys(table).join(',') || 'none',
    },
    SCOPES_SCHEMA,
    'has to be an object of texts such as {"fhir.read": "system/*.rs"}',
  ),
};
