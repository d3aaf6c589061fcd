import type { SignatureAlgorithm } from '../jwks/algorithms.js';
import type { JwkSet } from '../jwks/jwk.js';
import type { Dialect } from '../scopes/dialect.js';

/** Grant type that a client may use at the token endpoint. */
export const GRANT = 'client_credentials';

/** A registered client. Exactly one of `jwks` and `jwksUrl` is there. */
export interface Client {
  readonly id: string;
  readonly name?: string;
  /** What it may be granted, in its dialect. */
  readonly scope: string;
  /** Absent: as `v2`, and the words of other dialects are understood by the request they are in. */
  readonly dialect?: Dialect;
  readonly jwks?: JwkSet;
  readonly jwksUrl?: string;
  readonly enabled: boolean;
  /** Of its tokens, in seconds; absent: the server's. */
  readonly lifetime?: number;
  /** What it may sign with; absent: all that the server offers. */
  readonly algorithms?: readonly SignatureAlgorithm[];
  /** Absent: the only one there is. Empty: it may authenticate, for introspection say, but gets no tokens. */
  readonly grants?: readonly (typeof GRANT)[];
  /** Tells it from a client of this id that was removed before, whose tokens stay invalid. Random; absent: an earlier release added it. */
  readonly registration?: string;
}

/** As the store keeps it: the same text for the same client. */
export function writeClient(client: Client): string {
  const { id, name, scope, dialect, jwks, jwksUrl, enabled, lifetime, algorithms, grants, registration } = client;
  const settings = { id, name, scope, dialect, jwks, jwksUrl, enabled, lifetime, algorithms, grants };
  return JSON.stringify({ ...settings, registration });
}

/** @param text as `writeClient` made it */
export function readClient(text: string): Client {
  return JSON.parse(text) as Client;
}
