import type { IncomingMessage } from 'node:http';

import { OPEN_PRINCIPAL, type Principal } from '../auth/scopes/principal.js';
import type { ScopeTables } from '../auth/scopes/create-scopes.js';
import { checkOpenMode } from './open-mode.js';

/** Finds out who asks, before anything else of a request is looked at. */
export interface Gate {
  /**
   * @param query what follows `?` in the URL, as it was sent
   * @param isOpen the URL is for everybody: what is presented does not matter
   * @param tables what scopes are read by; absent: those of the start
   * @throws FhirError for who may not ask at all
   */
  admit(req: IncomingMessage, query: string, isOpen: boolean, tables?: ScopeTables): Principal | Promise<Principal>;
}

/** The gate of a server without authorization: every client on this machine may do everything. */
export const OPEN_GATE: Gate = {
  admit(req) {
    checkOpenMode(req);
    return OPEN_PRINCIPAL;
  },
};
