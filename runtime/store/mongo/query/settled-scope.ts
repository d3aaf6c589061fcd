import type { Condition } from '../../../search/query/query.js';
import type { FindQuery } from '../../store.js';
import { toOrder, type Order } from './compile/order.js';
import type { Links } from './links/links.js';
import { settle } from './links/reduce.js';
import type { FindParts } from './parts.js';
import { hasLinks } from './plan/plan.js';
import { openScope, type Scope } from './scope.js';

/** What is looked for, links of which few are behind replaced by what these are. */
export async function settledScope(
  { memberTypes }: Pick<FindParts, 'memberTypes'>,
  links: Links,
  type: string,
  where: Condition,
  isSorted = false,
): Promise<Scope> {
  const plan = await memberTypes.settle(links.snapshot, where, async (one) =>
    hasLinks(one) ? settle(links, type, one, isSorted) : one,
  );
  return openScope(links, type, plan);
}

/** The order that was asked for; undefined: none was. */
export function askedOrder(
  { type, sort }: Pick<FindQuery, 'type' | 'sort'>,
  { slotOf }: Pick<FindParts, 'slotOf'>,
): Order | undefined {
  return sort.length === 0 ? undefined : toOrder(type, sort, slotOf);
}
