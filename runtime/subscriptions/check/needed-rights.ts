import { neededOn, uniteNeeded, type NeededScopes } from '../../auth/access/needed-scopes.js';
import { linksOf } from '../../auth/access/search-links.js';
import type { Access } from '../../auth/scopes/access.js';
import type { Criterion } from '../../search/query/query.js';
import type { SubscriptionPlan } from '../plan.js';

/** All search criteria of a Subscription and its topic. */
export function criteriaOf({ topic, filters }: SubscriptionPlan): readonly Criterion[] {
  const queries = topic.triggers.flatMap(({ query }) => [query?.previous, query?.current]);
  return [...queries, ...filters].flatMap((each) => each?.criteria ?? []);
}

/**
 * The scopes that a client lacks for a Subscription: `rs` on each type of a trigger, since an event tells that a resource fulfils the
 * topic; `s` on each type that criteria lead over; `r` on Lists and Groups that they name.
 *
 * @returns undefined: it lacks none
 */
export function missingRights(plan: SubscriptionPlan, access: Access): NeededScopes | undefined {
  const lacks = (type: string, letters: string): boolean => access.on(type, letters) === 'nothing';
  const missing: NeededScopes[] = [];
  const need = (type: string, letters: string): void => {
    if (lacks(type, letters)) missing.push(neededOn(type, letters));
  };
  for (const { focus } of plan.topic.triggers) {
    if (!focus.isGeneral) need(focus.name, 'rs');
    else if ([...focus.types].some((type) => lacks(type, 'rs'))) missing.push(neededOn('*', 'rs'));
  }
  const { chain, list, in: groups, 'untyped-chain': untyped } = linksOf(criteriaOf(plan), access);
  for (const type of chain || []) need(type, 's');
  for (const type of [...(list || []), ...(groups || [])]) need(type, 'r');
  for (const types of untyped || []) {
    if (types.every((type) => lacks(type, 's'))) missing.push(uniteNeeded(types.map((type) => neededOn(type, 's'))));
  }
  return missing.length === 0 ? undefined : uniteNeeded(missing);
}
