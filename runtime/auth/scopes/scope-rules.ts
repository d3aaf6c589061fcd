import type { Tables } from '../../contract/tables.js';
import type { ConstraintReader } from './constraint.js';
import type { ScopeRules } from './read-scopes.js';

/** The rules as the tables have them: what every reader of scopes of one server is given. */
export function createScopeRules(
  { resourceTypes, scopes }: Pick<Tables, 'resourceTypes' | 'scopes'>,
  { accepts }: ConstraintReader,
): Required<ScopeRules> {
  const types = new Set(resourceTypes);
  return {
    knows: (type) => types.has(type),
    customs: scopes.custom.map(({ scope }) => scope),
    accepts,
    withheld: scopes.withheld,
  };
}
