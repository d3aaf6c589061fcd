import type { Verification } from '../auth/server/access-token.js';
import type { TokenVerifier } from '../auth/server/token-verifier.js';
import type { Log } from '../observe/log.js';

/** A verifier that has the log say why a token is not taken, which the answer does not say. That one has run out is no news. */
export function loggingVerifier({ verify }: TokenVerifier, log: Pick<Log, 'info'>): TokenVerifier {
  const tell = (verified: Verification): Verification => {
    if ('token' in verified || verified.failure === 'expired') return verified;
    const { failure, detail = 'no reason given' } = verified;
    log.info(`a token ${failure === 'unavailable' ? 'cannot be verified' : 'is not taken'}: ${detail}`);
    return verified;
  };
  return {
    verify(text) {
      const verified = verify(text);
      return verified instanceof Promise ? verified.then(tell) : tell(verified);
    },
  };
}
