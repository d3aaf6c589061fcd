import type { Tables } from '../../contract/tables.js';
import type { Zone } from '../../search/values/zone.js';
import { createAccessReader, type Access } from './access.js';
import { createConstraintReader } from './constraint.js';
import { grantScopes, type GrantedScopes, type RegisteredScopes } from './grant.js';
import { readScopes, type ReadScopes } from './read-scopes.js';
import { createScopeRules } from './scope-rules.js';

/** What scopes of one server are granted and understood by: the same rules on both sides. */
export interface Scopes {
  /** The scopes of a token, see `grantScopes`; undefined: none is left. */
  grant(requested: string, registered: RegisteredScopes): GrantedScopes | undefined;
  /** What canonical scopes give. Cached. */
  access(canonical: string): Access;
  /** How a registration is understood, and what of it means nothing here. */
  read(registered: RegisteredScopes): ReadScopes;
}

/** What they depend on. */
export interface ScopesSettings {
  readonly tables: Pick<Tables, 'resourceTypes' | 'search' | 'scopes'>;
  /** Where dates without an offset are read. */
  readonly zone: Zone;
  /** URL of the FHIR base, without a trailing slash. */
  readonly base: string;
}

/** Puts the rules of the tables behind all that reads scopes. */
export function createScopes({ tables, zone, base }: ScopesSettings): Scopes {
  const constraints = createConstraintReader({ tables, zone, base });
  const rules = createScopeRules(tables, constraints);
  return {
    grant: (requested, registered) => grantScopes(requested, registered, rules.knows, rules.customs, rules),
    access: createAccessReader({ rules, constraints }),
    read: ({ scope, dialect }) => readScopes(scope, dialect, rules),
  };
}
