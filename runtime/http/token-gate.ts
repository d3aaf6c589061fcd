import { readCredentials } from '../auth/guard/credentials.js';
import { refusal } from '../auth/guard/refuse.js';
import type { Access } from '../auth/scopes/access.js';
import { NOBODY, type Principal } from '../auth/scopes/principal.js';
import type { Verification, VerifiedToken } from '../auth/server/access-token.js';
import type { TokenVerifier } from '../auth/server/token-verifier.js';
import type { Gate } from './gate.js';
import { headerValues } from './header-values.js';

/** What a gate needs that asks for tokens. */
export interface TokenGateSettings {
  /** Of this server, or of one elsewhere. */
  readonly verifier: TokenVerifier;
  /** What canonical scopes give. */
  readonly access: (scope: string) => Access;
}

/** After which it is worth asking again whoever could not be asked, in seconds. */
const RETRY_AFTER = 5;

const REFUSALS = { invalid: 'token-invalid', expired: 'token-expired' } as const;

/**
 * The gate that asks for a token. Which check of it failed nobody is told. https://www.rfc-editor.org/rfc/rfc6750#section-3
 */
export function createTokenGate({ verifier, access }: TokenGateSettings): Gate {
  /** Verifiers keep tokens that are good: their bearers are kept beside them. */
  const principals = new WeakMap<VerifiedToken, Principal>();

  function principalOf(verified: Verification): Principal {
    if ('token' in verified) {
      let principal = principals.get(verified.token);
      if (principal === undefined) principals.set(verified.token, (principal = bearerOf(verified.token)));
      return principal;
    }
    const { failure } = verified;
    if (failure === 'unavailable') throw refusal('token-unverified', { retryAfter: RETRY_AFTER });
    throw refusal(REFUSALS[failure]);
  }

  function bearerOf({ clientId, scope, jti }: VerifiedToken): Principal {
    return { clientId, scope, access: access(scope), ...(jti !== undefined && { tokenId: jti }) };
  }

  return {
    admit(req, query, isOpen) {
      if (isOpen) return NOBODY;
      const credentials = readCredentials(headerValues(req, 'authorization'), query);
      if (credentials.is === 'malformed') throw refusal('token-malformed');
      if (credentials.is === 'none') throw refusal('token-missing');
      const verified = verifier.verify(credentials.token);
      return verified instanceof Promise ? verified.then(principalOf) : principalOf(verified);
    },
  };
}
