import { readCredentials } from '../auth/access/credentials.js';
import { refusal } from '../auth/access/refuse.js';
import type { Access } from '../auth/scopes/access.js';
import type { ScopeTables } from '../auth/scopes/create-scopes.js';
import { ANONYMOUS, Principal } from '../auth/scopes/principal.js';
import type { Verification, VerifiedToken } from '../auth/server/access-token.js';
import type { TokenVerifier } from '../auth/server/token-verifier.js';
import { ACCESS_ERRORS } from '../fhir/catalog/access-errors.js';
import type { FhirError } from '../fhir/errors.js';
import type { Approach, Gate } from './gate.js';
import { headerValues } from './request/header-values.js';

/** Settings of a gate that checks tokens. */
export interface TokenGateSettings {
  /** Of this server, or of one elsewhere. */
  readonly verifier: TokenVerifier;
  /** What canonical scopes give. */
  readonly access: (scope: string, tables?: ScopeTables) => Access;
  /** The command that prints a token, where every client is on this machine: the refusal of a request without a good token names it. */
  readonly tokenCommand?: string | undefined;
  /** Called for each token that is not taken, because the answer does not say why. */
  readonly refused?: (why: RefusedToken, requestId: string) => void;
}

/** After which it is worth asking again the server that could not be asked, in seconds. */
const RETRY_AFTER = 5;

/** Why a token is not taken. */
export type RefusedToken = Extract<Verification, { readonly failure: string }>;

const REFUSALS = { invalid: 'token-invalid', expired: 'token-expired' } as const;

/**
 * The gate that asks for a token. A refusal does not say which check failed. https://www.rfc-editor.org/rfc/rfc6750#section-3
 */
export function createTokenGate({ verifier, access, tokenCommand, refused }: TokenGateSettings): Gate {
  /** Verifiers keep tokens that are good: their bearers are kept beside them. */
  const principals = new WeakMap<VerifiedToken, { readonly principal: Principal; readonly tables: unknown }>();

  function principalOf(verified: Verification, { tables, requestId }: Approach): Principal {
    if ('token' in verified) {
      const { token } = verified;
      const known = principals.get(token);
      if (known !== undefined && known.tables === tables) return known.principal;
      const principal = bearerOf(token, tables);
      principals.set(token, { principal, tables });
      return principal;
    }
    refused?.(verified, requestId);
    const { failure } = verified;
    if (failure === 'unavailable') throw refusal('token-unverified', { retryAfter: RETRY_AFTER });
    throw refuse(REFUSALS[failure]);
  }

  function refuse(code: 'token-missing' | 'token-invalid' | 'token-expired'): FhirError {
    if (tokenCommand === undefined) return refusal(code);
    return refusal(code, { text: `${ACCESS_ERRORS[code].text}; for one: ${tokenCommand}` });
  }

  function bearerOf(token: VerifiedToken, tables: ScopeTables | undefined): Principal {
    const { clientId, scope, jti, registration } = token;
    return Principal.ofClient({ clientId, scope, access: access(scope, tables), tokenId: jti, registration });
  }

  return {
    admit(req, approach) {
      if (approach.isOpen) return ANONYMOUS;
      const credentials = readCredentials(headerValues(req, 'authorization'), approach.query);
      if (credentials.is === 'malformed') throw refusal('token-malformed');
      if (credentials.is === 'none') throw refuse('token-missing');
      const verified = verifier.verify(credentials.token);
      return verified instanceof Promise
        ? verified.then((each) => principalOf(each, approach))
        : principalOf(verified, approach);
    },
  };
}
