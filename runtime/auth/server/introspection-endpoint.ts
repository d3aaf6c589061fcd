import type { AtomicMaps } from '../../store/store.js';
import { spellingOf } from './access-token.js';
import { authenticate, type Authentication } from './assertion.js';
import { readCredentials, schemeOf } from './credentials.js';
import { createEndpoint, type EndpointNeeds, type Trace } from './endpoint.js';
import type { OAuthEndpoint, OAuthReply, OAuthRequest } from './messages.js';
import { jsonReply, Refused, type Refusal } from './refusals.js';
import type { OwnTokenVerifier } from './token-verifier.js';

/** Parts that the introspection endpoint works with. */
export interface IntrospectionNeeds extends EndpointNeeds, Authentication {
  readonly verifier: OwnTokenVerifier;
  readonly maps: AtomicMaps;
}

/** The scope of those who may ask about tokens of all clients. Nothing implies it. */
export const INTROSPECT_SCOPE = '__introspect';

const INACTIVE = { active: false };
const BEARER = /^bearer +([A-Za-z0-9\-._~+/]+=*)$/i;

/**
 * Introspection: what a token says, for a resource server. It authenticates by a bearer token with the scope `__introspect`, or
 * by an assertion as at the token endpoint.
 * https://www.rfc-editor.org/rfc/rfc7662; authorization.md §5.1, §5.2
 */
export function createIntrospectionEndpoint(needs: IntrospectionNeeds): OAuthEndpoint {
  return createEndpoint('introspection', needs, async (form, request, trace) => {
    await admit(form, request, trace, needs);
    const text = form.get('token');
    if (text === null) throw new Refused('token-missing');
    return await describe(text, needs);
  });
}

/** @throws Refused */
async function admit(
  form: URLSearchParams,
  request: OAuthRequest,
  trace: Trace,
  needs: IntrospectionNeeds,
): Promise<void> {
  const hasBearer = schemeOf(request.headers['authorization']) === 'bearer';
  const hasOther = ['client_assertion', 'client_assertion_type', 'client_secret'].some((name) => form.has(name));
  if (hasBearer && hasOther) throw new Refused('authentication-several');
  const { id, scope } = await (hasBearer ? ofBearer(request, needs) : ofAssertion(form, request, hasOther, needs));
  trace.clientId = id;
  trace.isVerified = true;
  if (!scope.split(' ').includes(INTROSPECT_SCOPE)) throw challenged('bearer-scope', { scope: INTROSPECT_SCOPE });
}

interface Caller {
  readonly id: string;
  readonly scope: string;
}

async function ofBearer({ headers }: OAuthRequest, { verifier }: IntrospectionNeeds): Promise<Caller> {
  const header = headers['authorization'];
  const [, text] = BEARER.exec(typeof header === 'string' ? header.trim() : '') ?? [];
  if (text === undefined) throw challenged('bearer-malformed', {});
  const found = await verifier.verify(text);
  if ('failure' in found) throw challenged('bearer-invalid', {}, found.detail ?? found.failure);
  return { id: found.token.clientId, scope: found.token.scope };
}

async function ofAssertion(
  form: URLSearchParams,
  request: OAuthRequest,
  hasOther: boolean,
  needs: IntrospectionNeeds,
): Promise<Caller> {
  if (!hasOther) {
    throw new Refused('bearer-missing', undefined, { 'WWW-Authenticate': 'Bearer realm="introspect"' });
  }
  return await authenticate(readCredentials(request, form), needs);
}

const ERRORS: Partial<Record<Refusal, string>> = {
  'bearer-malformed': 'invalid_request',
  'bearer-invalid': 'invalid_token',
  'bearer-scope': 'insufficient_scope',
};

/** https://www.rfc-editor.org/rfc/rfc6750#section-3 */
function challenged(refusal: Refusal, more: Readonly<Record<string, string>>, detail?: string): Refused {
  const attributes = Object.entries({ realm: 'introspect', error: ERRORS[refusal] ?? 'invalid_token', ...more });
  const challenge = `Bearer ${attributes.map(([name, value]) => `${name}="${value}"`).join(', ')}`;
  return new Refused(refusal, detail, { 'WWW-Authenticate': challenge });
}

async function describe(text: string, { verifier, maps }: IntrospectionNeeds): Promise<OAuthReply> {
  const found = await verifier.verify(text);
  if ('failure' in found) return jsonReply(200, INACTIVE);
  const { token } = found;
  return jsonReply(200, {
    active: true,
    scope: await spellingOf(token, maps),
    client_id: token.clientId,
    token_type: 'Bearer',
    exp: token.exp,
    iat: token.iat,
    sub: token.clientId,
    aud: token.audience,
    iss: token.issuer,
    jti: token.jti,
  });
}
