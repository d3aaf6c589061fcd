import { CONTEXT } from '../../indexing/context-entries.js';
import type { Condition } from '../../search/query/query.js';
import type { Access } from '../scopes/access.js';
import { OPEN_ACCESS } from '../scopes/principal.js';
import { commonReach, type Reach } from '../scopes/reach.js';

const { type: BINARY, param } = CONTEXT;

/** A Binary without a `securityContext`. */
const WITHOUT_CONTEXT: Condition = { not: { param, present: 'token' } };

/** Binaries whose `securityContext` is a Binary again: a longer row leads nowhere. */
export const MOST_BINARIES = 4;

/** What each access is to searches: the condition on Binaries names all types, and is the same for each search. */
const known = new WeakMap<Access, { readonly resourceTypes: readonly string[]; readonly access: Access }>();

/**
 * Returns the access of a token as searches apply it. A Binary that has a `securityContext` is included only where that leads
 * to a resource that the token may read. https://hl7.org/fhir/R5/binary.html#security
 */
export function searchAccess(access: Access, resourceTypes: readonly string[]): Access {
  if (access === OPEN_ACCESS) return access;
  const before = known.get(access);
  if (before?.resourceTypes === resourceTypes) return before.access;
  let condition: Condition | undefined;
  const made = within(access, () => (condition ??= withContext(access, resourceTypes)));
  known.set(access, { resourceTypes, access: made });
  return made;
}

/** Returns what a token gives as criteria have to see it: of Binaries those alone without a `securityContext`. Criteria name others by their ids. */
export function criteriaAccess(access: Access): Access {
  if (access === OPEN_ACCESS) return access;
  return within(access, () => WITHOUT_CONTEXT);
}

function within(access: Access, condition: () => Condition): Access {
  const bounds = new WeakMap<Condition, Reach>();
  const bound = (type: string, reach: Reach): Reach => {
    if (type !== BINARY || reach === 'nothing') return reach;
    if (reach === 'everything') return condition();
    const before = bounds.get(reach) ?? commonReach([reach, condition()]);
    bounds.set(reach, before);
    return before;
  };
  const on: Access['on'] = (type, letters) => bound(type, access.on(type, letters));
  return {
    ...access,
    on,
    onAny: (type, anyOf) => bound(type, access.onAny(type, anyOf)),
    isWhole: (type, letters) => on(type, letters) === 'everything',
  };
}

function withContext(access: Access, resourceTypes: readonly string[], left = MOST_BINARIES): Condition {
  const chain = resourceTypes.flatMap((type) => {
    const reach = access.on(type, 'r');
    if (reach === 'nothing' || (type === BINARY && left === 0)) return [];
    const where = reach === 'everything' ? { all: [] } : reach;
    return [{ type, where: type === BINARY ? { all: [where, withContext(access, resourceTypes, left - 1)] } : where }];
  });
  return chain.length === 0 ? WITHOUT_CONTEXT : { some: [WITHOUT_CONTEXT, { param, chain }] };
}
