import type { Access } from './access.js';

/** What is known of a client. */
interface Known {
  readonly clientId: string;
  readonly scope: string;
  readonly access: Access;
  readonly tokenId?: string | undefined;
  readonly registration?: string | undefined;
}

/**
 * On whose behalf something is read, checked or written: a client, whose token was verified or whose job goes on, or one of the few below
 * that are given everything. Nothing else has its form, so that no call and no job goes without one.
 */
export class Principal {
  readonly clientId: string;
  /** Canonical v2 scopes of the token. */
  readonly scope: string;
  readonly access: Access;
  /** `jti` of the token, where it has one. */
  readonly tokenId?: string;
  /** `Client.registration` of the client that the token was issued to, where it says so. */
  readonly registration?: string;
  /** Makes it the only type of this form. */
  protected readonly isPrincipal = true;

  private constructor({ clientId, scope, access, tokenId, registration }: Known) {
    this.clientId = clientId;
    this.scope = scope;
    this.access = access;
    if (tokenId !== undefined) this.tokenId = tokenId;
    if (registration !== undefined) this.registration = registration;
  }

  /** A client. @param access what its scopes give */
  static ofClient(known: Known): Principal {
    return new Principal(known);
  }
}

/** Everything is given. It is compared with; who has it is below. */
export const OPEN_ACCESS: Access = {
  on: (_type, letters) => (letters === '' ? 'nothing' : 'everything'),
  onAny: () => 'everything',
  isWhole: () => true,
  holds: () => true,
};

function everything(): Principal {
  return Principal.ofClient({ clientId: '', scope: '', access: OPEN_ACCESS });
}

/** The clients of a server without authorization: by the setting, every program on this machine may do everything. */
export const ANYONE = everything();

/** The operator, who gives commands to the program and has the store itself: nothing in it is hidden from them. */
export const OPERATOR = everything();

/** The server: what the operator's settings ask of it, and no client did. */
export const SERVER = everything();

/** Nothing is given. */
const NO_ACCESS: Access = { on: () => 'nothing', onAny: () => 'nothing', isWhole: () => false, holds: () => false };

/** The client of what is open to everybody. */
export const ANONYMOUS = Principal.ofClient({ clientId: '', scope: '', access: NO_ACCESS });
