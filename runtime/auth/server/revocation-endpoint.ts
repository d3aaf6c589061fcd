import type { ServerKeys } from '../keys/server-keys.js';
import { readToken } from './access-token.js';
import { authenticate, type Authentication } from './assertion.js';
import { readCredentials } from './credentials.js';
import { createEndpoint, type EndpointNeeds } from './endpoint.js';
import type { OAuthEndpoint } from './messages.js';
import { NO_STORE, Refused } from './refusals.js';
import type { RevokedTokens } from './revoked.js';
import type { OwnTokenVerifier } from './token-verifier.js';

/** Parts that the revocation endpoint works with. */
export interface RevocationNeeds extends EndpointNeeds, Authentication {
  readonly keys: ServerKeys;
  readonly revoked: RevokedTokens;
  readonly verifier: OwnTokenVerifier;
}

const DONE = { status: 200, headers: { ...NO_STORE, 'Content-Length': '0' }, body: '' };

/**
 * Revocation: a client ends a token of its own before its time. What is no token any more, or never was, is done already.
 * https://www.rfc-editor.org/rfc/rfc7009; authorization.md §5.4
 */
export function createRevocationEndpoint(needs: RevocationNeeds): OAuthEndpoint {
  const { settings, keys, revoked, verifier, now } = needs;
  return createEndpoint('revocation', needs, async (form, request, trace) => {
    const client = await authenticate(readCredentials(request, form), needs);
    trace.clientId = client.id;
    trace.isVerified = true;
    const text = form.get('token');
    if (text === null) throw new Refused('token-missing');
    const read = await readToken(text, settings.addresses, keys, now());
    if ('failure' in read) return DONE;
    const { clientId, jti, exp } = read.token;
    if (clientId !== client.id) throw new Refused('token-foreign');
    await revoked.add(jti, exp);
    verifier.forget(text);
    trace.jti = jti;
    return DONE;
  });
}
