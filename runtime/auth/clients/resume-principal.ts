import { lackedOfScope, scopesIn, type JobOwner, type OwnerTables } from '../access/owner.js';
import { refusal, scopeMissing } from '../access/refuse.js';
import { canonicalScopes } from '../scopes/canonical.js';
import type { Scopes } from '../scopes/create-scopes.js';
import { Principal, SERVER } from '../scopes/principal.js';
import type { ReadScopes } from '../scopes/read-scopes.js';
import { intersectScopes } from '../scopes/reduce.js';
import type { ClientReader } from './client-reader.js';

/**
 * On whose behalf a job goes on: its client, with the scopes of the token that started it, as they are understood now.
 *
 * @throws FhirError `scope-missing` where the client is not registered any more, is disabled, or is registered for less: its jobs end
 */
export type ResumePrincipal = (owner: JobOwner) => Promise<Principal>;

/** Parts that `ResumePrincipal` and `RightsOf` depend on. */
export interface ResumeParts {
  readonly scopes: Pick<Scopes, 'access' | 'read'>;
  readonly tables: OwnerTables;
  /** Absent: no client is registered here, so that what the token gave is all there is to go by. */
  readonly clients?: ClientReader;
}

/** See `ResumePrincipal`. */
export function createResumePrincipal({ scopes, tables, clients }: ResumeParts): ResumePrincipal {
  return async ({ clientId, scope, registration }) => {
    if (scope === undefined) {
      // Started without authorization, or by the server itself.
      if (clientId === '') return SERVER;
      throw ended('An earlier version of the program started the job, and kept no scopes of it');
    }
    if (clients !== undefined) {
      const client = await clients.find(clientId);
      if (client?.enabled !== true || client.registration !== registration)
        throw ended('The client that started the job is removed or disabled');
      const registered = canonicalOf(scopes.read(client), tables);
      const now = { scope: registered, access: scopes.access(registered) };
      const lacked = lackedOfScope(scope, now, tables);
      if (lacked.scopes.length + lacked.customs.length > 0) throw scopeMissing(lacked, now.access);
    }
    return Principal.ofClient({ clientId, scope, access: scopes.access(scope), registration });
  };
}

/** Rights of the owner of repeated work. They may change while the work goes on. */
export interface OwnerRights {
  /** With the scopes that were kept. */
  readonly kept: Principal;
  /** With those that the client is registered for now too; undefined: it is removed or disabled. */
  readonly now: Principal | undefined;
}

/**
 * Reads the rights of an owner, as they were 2 s ago at most.
 *
 * @param owner `within`: canonical scopes of a token that is to be shown no more than it gives itself
 */
export type RightsOf = (owner: JobOwner & { readonly within?: string | undefined }) => Promise<OwnerRights>;

/** See `OwnerRights`. */
export function createOwnerRights({ scopes, tables, clients }: ResumeParts): RightsOf {
  return async ({ clientId, scope, registration, within }) => {
    if (scope === undefined)
      return clientId === '' ? { kept: SERVER, now: SERVER } : { kept: NO_RIGHTS, now: undefined };
    const of = (given: string): Principal =>
      Principal.ofClient({ clientId, scope: given, access: scopes.access(given), registration });
    const kept = of(scope);
    const { withheld } = tables.scopes;
    const narrow = (given: string, other: string): string => {
      const others = scopesIn(other).scopes;
      const common = scopesIn(given).scopes.flatMap((a) =>
        others.flatMap((b) => intersectScopes(a, b, withheld) ?? []),
      );
      return canonicalScopes(common, [], withheld);
    };
    const shown = within === undefined ? scope : narrow(scope, within);
    if (clients === undefined) return { kept, now: shown === scope ? kept : of(shown) };
    const client = await clients.find(clientId);
    if (client?.enabled !== true || client.registration !== registration) return { kept, now: undefined };
    const narrowed = narrow(shown, canonicalOf(scopes.read(client), tables));
    return { kept, now: narrowed === scope ? kept : of(narrowed) };
  };
}

const NO_RIGHTS = Principal.ofClient({
  clientId: '',
  scope: '',
  access: { on: () => 'nothing', onAny: () => 'nothing', isWhole: () => false, holds: () => false },
});

function canonicalOf({ read }: ReadScopes, { scopes: { withheld } }: OwnerTables): string {
  return canonicalScopes(
    read.flatMap((each) => ('scope' in each ? [each.scope] : [])),
    read.flatMap((each) => ('custom' in each ? [each.text] : [])),
    withheld,
  );
}

function ended(text: string) {
  return refusal('scope-missing', { text });
}
