import type { Access } from './access.js';

/** Whoever a request comes from, once its token is verified. */
export interface Principal {
  readonly clientId: string;
  /** Canonical v2 scopes of the token. */
  readonly scope: string;
  readonly access: Access;
}
