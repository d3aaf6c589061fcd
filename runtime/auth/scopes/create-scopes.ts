import type { Tables } from '../../contract/tables.js';
import type { OwnBases } from '../../path/own-bases.js';
import type { Zone } from '../../indexing/values/zone.js';
import { createAccessReader, type Access } from './access.js';
import { createConstraintReader } from './constraint.js';
import { explainScopes } from './explain-scopes.js';
import { grantScopes, type GrantedScopes, type RegisteredScopes } from './grant.js';
import { readScopes, SCOPES_LIMITS, type ReadScopes } from './read-scopes.js';
import { createScopeRules } from './scope-rules.js';
import { memoizeWeak } from '../../fhir/memory/memoize.js';

/** Scopes of one server. Granting and checking scopes follow the same rules. */
export interface Scopes {
  /** The scopes of a token, see `grantScopes`; undefined: none is left. */
  grant(requested: string, registered: RegisteredScopes): GrantedScopes | undefined;
  /**
   * What canonical scopes give. Cached.
   *
   * @param tables those that the request goes by; absent: those that hold now
   */
  access(canonical: string, tables?: ScopeTables): Access;
  /** How a registration is understood, and what of it means nothing here. */
  read(registered: RegisteredScopes): ReadScopes;
  /** What means nothing of a registration, each with the reason; empty: all of it means something. */
  explain(registered: RegisteredScopes): readonly string[];
}

/** The tables that scopes are read by. */
export type ScopeTables = Pick<Tables, 'resourceTypes' | 'search' | 'scopes'>;

/** Settings that `Scopes` depend on. */
export interface ScopesSettings {
  readonly tables: ScopeTables;
  /** The tables that hold at the moment, where search parameters come and go; absent: always `tables`. */
  readonly tablesNow?: () => ScopeTables;
  /** Where dates without an offset are read. */
  readonly zone: Zone;
  /** By which references lead to resources here. */
  readonly own: OwnBases;
}

/** Puts the rules of the tables behind all that reads scopes. */
export function createScopes(settings: ScopesSettings): Scopes {
  const { tables, tablesNow = () => tables } = settings;
  const by = memoizeWeak((each: ScopeTables): Scopes => createScopesBy({ ...settings, tables: each }));
  return {
    read: (registered) => by(tablesNow()).read(registered),
    explain: (registered) => by(tablesNow()).explain(registered),
    grant: (requested, registered) => by(tablesNow()).grant(requested, registered),
    access: (canonical, of = tablesNow()) => by(of).access(canonical),
  };
}

function createScopesBy({ tables, zone, own }: ScopesSettings): Scopes {
  const constraints = createConstraintReader({ tables, zone, own });
  const rules = createScopeRules(tables, constraints);
  const read = ({ scope, dialect }: RegisteredScopes): ReadScopes => readScopes(scope, dialect, rules);
  return {
    read,
    explain(registered) {
      if (registered.scope.length > SCOPES_LIMITS.characters) {
        return [`together they are longer than ${SCOPES_LIMITS.characters} characters`];
      }
      return explainScopes(read(registered).dropped, { rules, constraints, resourceTypes: tables.resourceTypes });
    },
    grant: (requested, registered) => grantScopes(requested, registered, rules.knows, rules.customs, rules),
    access: createAccessReader({ rules, constraints }),
  };
}
