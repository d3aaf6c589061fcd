import type { IncomingMessage } from 'node:http';

import { ANYONE, type Principal } from '../auth/scopes/principal.js';
import type { ScopeTables } from '../auth/scopes/create-scopes.js';
import { checkOpenMode } from './open-mode.js';

/** Facts about a request that a gate needs. */
export interface Approach {
  /** What follows `?` in the URL, as it was sent. */
  readonly query: string;
  /** The URL is for everybody: what is presented does not matter. */
  readonly isOpen: boolean;
  /** What scopes are read by; absent: those of the start. */
  readonly tables?: ScopeTables;
  /** For the log. */
  readonly requestId: string;
}

/** Finds out who asks, before anything else of a request is looked at. */
export interface Gate {
  /** @throws FhirError for who may not ask at all */
  admit(req: IncomingMessage, approach: Approach): Principal | Promise<Principal>;
}

/** The gate of a server without authorization: every client on this machine may do everything. */
export const OPEN_GATE: Gate = {
  admit(req) {
    checkOpenMode(req);
    return ANYONE;
  },
};
