import type { Access } from './access.js';

/** The client that a request comes from, once its token is verified. */
export interface Principal {
  readonly clientId: string;
  /** Canonical v2 scopes of the token. */
  readonly scope: string;
  readonly access: Access;
  /** `jti` of the token, where it has one. */
  readonly tokenId?: string;
}

/** Everything is given: of a server without authorization, and of what the server does for itself. */
export const OPEN_ACCESS: Access = {
  on: (_type, letters) => (letters === '' ? 'nothing' : 'everything'),
  onAny: () => 'everything',
  isWhole: () => true,
  holds: () => true,
};

/** The client of a server without authorization, and the server itself. */
export const OPEN_PRINCIPAL: Principal = { clientId: '', scope: '', access: OPEN_ACCESS };

/** Nothing is given. */
const NO_ACCESS: Access = { on: () => 'nothing', onAny: () => 'nothing', isWhole: () => false, holds: () => false };

/** The client of what is open to everybody. */
export const ANONYMOUS: Principal = { clientId: '', scope: '', access: NO_ACCESS };
