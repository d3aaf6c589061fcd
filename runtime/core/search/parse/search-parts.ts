import { searchDefinitions } from '../../../search/parse/definitions.js';
import { parseCriterion } from '../../../search/parse/parse-criterion.js';
import type { Condition, Target } from '../../../search/query/query.js';
import { usedBy, type UsedParameter } from '../../../search/parse/used-by.js';
import { searchContext } from './search-context.js';
import { membersOf } from './compartment.js';
import type { SearchInput, SearchServices } from './search-input.js';
import type { SearchScope } from './scope.js';

/** What a search asks of each type because of where it looks, and the parameters that decide on it. */
export interface Membership {
  readonly parts: readonly Target[];
  readonly used: readonly UsedParameter[];
}

/** What resources of each of the types have to be to be found where a search looks: all, or parts of a compartment. */
export function readMembership(
  { compartment }: Pick<SearchScope, 'compartment'>,
  types: readonly string[],
  source: Pick<SearchInput, 'now' | 'base'>,
  services: SearchServices,
): Membership {
  if (compartment === undefined) return { parts: types.map((type) => ({ type, where: { all: [] } })), used: [] };
  const settings = services.search;
  const definitions = searchDefinitions(services.tables);
  const used: UsedParameter[] = [];
  const parts = types.map((type): Target => {
    const input = { ...source, type, isPosted: false, isLenient: false };
    const { hierarchy: _none, ...context } = searchContext(input, settings, services).context;
    const some = membersOf(compartment, type, (name, value) => parseCriterion(name, value, context));
    for (const each of some) used.push(...usedBy(type, each, definitions));
    const [only] = some;
    return { type, where: some.length === 1 && only !== undefined ? only : { some } };
  });
  return { parts, used };
}

/** Each part with a condition that all have to fulfil besides. */
export function narrow(parts: readonly Target[], where: Condition): readonly Target[] {
  return parts.map((part) => ({ type: part.type, where: both(where, part.where) }));
}

function both(one: Condition, other: Condition): Condition {
  if (isEverything(other)) return one;
  if (isEverything(one)) return other;
  return { all: [...('all' in one ? one.all : [one]), other] };
}

function isEverything(condition: Condition): boolean {
  return 'all' in condition && condition.all.length === 0;
}
