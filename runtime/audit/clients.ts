import type { Principal } from '../auth/scopes/principal.js';
import type { AuditedClient } from './audit.js';

/** Makes the look-up of who asks. Who asks again from the same address is the same object, so that it is described in the same words. */
export function createClients(): (principal: Principal, address: string | undefined) => AuditedClient {
  const known = new WeakMap<Principal, AuditedClient>();
  return (principal, address) => {
    const before = known.get(principal);
    if (before !== undefined && before.address === address) return before;
    const { clientId, tokenId } = principal;
    const client = { clientId: clientId === '' ? undefined : clientId, tokenId, address };
    known.set(principal, client);
    return client;
  };
}
