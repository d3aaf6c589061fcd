import type { Tables } from '../../contract/tables.js';
import { canonicalScopes } from '../scopes/canonical.js';
import { parseScope } from '../scopes/parse-scope.js';
import { OPEN_ACCESS, type Principal } from '../scopes/principal.js';
import { intersectScopes, lettersOn } from '../scopes/reduce.js';
import { printPairs, type Scope } from '../scopes/scope.js';
import { NONE_NEEDED, type NeededScopes } from './needed-scopes.js';

/** On whose behalf a job works, as the store keeps it. The token itself is never kept. */
export interface JobOwner {
  /** Empty without authorization, and for jobs that the server starts. */
  readonly clientId: string;
  /** Scopes that the job needs, of the token that started it, canonical; absent: the token gave everything. */
  readonly scope?: string;
  /** `Client.registration` then, where the token said so. */
  readonly registration?: string;
}

/** Tables by which scopes are compared. */
export type OwnerTables = Pick<Tables, 'resourceTypes' | 'scopes'>;

/**
 * Returns what a job keeps of the client that starts it: the client's id, its registration and the scopes.
 *
 * @param uses scopes that its work needs, as far as the token gives them: unconstrained ones
 */
export function ownerOf(principal: Principal, uses: NeededScopes, tables: Pick<OwnerTables, 'scopes'>): JobOwner {
  const { clientId, access, registration } = principal;
  return {
    clientId,
    ...(access !== OPEN_ACCESS && { scope: commonScopes(principal, uses, tables) }),
    ...(registration !== undefined && { registration }),
  };
}

function commonScopes(
  { scope, access }: Principal,
  { scopes, customs }: NeededScopes,
  { scopes: { withheld } }: Pick<OwnerTables, 'scopes'>,
): string {
  const held = scopesIn(scope).scopes;
  const common = scopes.flatMap((used) => held.flatMap((each) => intersectScopes(each, used, withheld) ?? []));
  const given = customs.filter((custom) => access.holds(custom));
  return canonicalScopes(common, given, withheld);
}

/**
 * Relation of a client to a job. A `stranger` does not learn that the job exists. `narrower` is a token of the owner that lacks
 * some of the scopes that the job was started with, so that the job's results may be more than this token shows.
 * https://hl7.org/fhir/uv/bulkdata/
 */
export type Standing = 'owner' | 'narrower' | 'stranger';

/** See `Standing`. */
export function standingOf(principal: Principal, owner: JobOwner, tables: OwnerTables): Standing {
  if (principal.clientId !== owner.clientId || principal.registration !== owner.registration) return 'stranger';
  if (principal.access === OPEN_ACCESS) return 'owner';
  if (owner.scope === undefined) return 'stranger';
  const { scopes, customs } = lackedOfScope(owner.scope, principal, tables);
  return scopes.length + customs.length === 0 ? 'owner' : 'narrower';
}

/**
 * Returns the wanted canonical scopes that a principal does not have whole, that is on all types of the scope and with all of
 * its letters.
 */
export function lackedOfScope(
  wanted: string,
  { scope, access }: Pick<Principal, 'scope' | 'access'>,
  { resourceTypes, scopes: { withheld } }: OwnerTables,
): NeededScopes {
  if (wanted === scope) return NONE_NEEDED;
  const held = scopesIn(scope).scopes;
  const lacks = (each: Scope): boolean => {
    const types = each.type === '*' ? resourceTypes : [each.type];
    const constraint = printPairs(each.pairs);
    return types.some((type) =>
      [...lettersOn(each, type, withheld)].some(
        (letter) =>
          !access.isWhole(type, letter) &&
          !held.some(
            (other) => printPairs(other.pairs) === constraint && lettersOn(other, type, withheld).includes(letter),
          ),
      ),
    );
  };
  const { scopes, customs } = scopesIn(wanted);
  return { scopes: scopes.filter(lacks), customs: customs.filter((custom) => !access.holds(custom)) };
}

/** Canonical scopes; what is none on data is a custom one. */
export function scopesIn(canonical: string): NeededScopes {
  const scopes: Scope[] = [];
  const customs: string[] = [];
  for (const text of canonical.split(' ').filter((each) => each !== '')) {
    // Canonical ones are in letters: no word has to be read.
    const scope = parseScope(text, 'rs');
    if (scope === undefined) customs.push(text);
    else scopes.push(scope);
  }
  return { scopes, customs };
}
