import { NOTHING, type Condition, type Target } from '../../search/query/query.js';
import type { Access } from '../scopes/access.js';
import { isContainedType, plainType } from '../../store/contained-resources.js';
import { withinReach } from '../scopes/reach.js';
import type { Refused } from './decide.js';
import { neededOn, uniteNeeded, type NeededScopes } from './needed-scopes.js';

/** A search over one type, narrowed to what the token may search. */
export interface NarrowedPart extends Target {
  /** The same without the constraint on the type itself: what a client asks, links within what they may lead to. */
  readonly asked: Condition;
}

/**
 * Narrows a search over several types: those without `s` are left out, and of the others what they ask. To be refused by
 * name is for `decide`; here none being left refuses.
 */
export function narrowMultiType(
  parts: readonly Target[],
  access: Access,
): { readonly is: 'narrowed'; readonly parts: readonly NarrowedPart[] } | Refused {
  const missing: NeededScopes[] = [];
  const kept = parts.filter(({ type }) => access.on(type, 's') !== 'nothing');
  const walk: Walk = { access, missing, known: new Map() };
  const narrowed = kept.map((part) => ({ ...narrowTarget(part, walk), asked: narrow(part.where, walk) }));
  if (kept.length === 0) missing.push(neededOn('*', 's'));
  return missing.length > 0 ? { is: 'refused', needed: uniteNeeded(missing) } : { is: 'narrowed', parts: narrowed };
}

/** How a search is narrowed. */
interface Walk {
  readonly access: Access;
  /** What is missing: the walk goes on, so that all of it is reported at once. */
  readonly missing: NeededScopes[];
  /** Types may share what is asked of them, on every step of a chain again. */
  readonly known: Map<Condition, Condition>;
}

function narrow(condition: Condition, walk: Walk): Condition {
  let narrowed = walk.known.get(condition);
  if (narrowed === undefined) walk.known.set(condition, (narrowed = narrowAnew(condition, walk)));
  return narrowed;
}

function narrowAnew(condition: Condition, walk: Walk): Condition {
  const { access, missing } = walk;
  const inner = (each: Condition): Condition => narrow(each, walk);
  if ('all' in condition) return { all: condition.all.map(inner) };
  if ('some' in condition) return { some: condition.some.map(inner) };
  if ('not' in condition) return { not: inner(condition.not) };
  if ('chain' in condition) {
    const { param, chain } = condition;
    // Beside each such there is one of the resources themselves, by which it is refused.
    if (chain.every(({ type }) => isContainedType(type))) {
      const whole = wholly(chain, walk);
      return whole.length === 0 ? NOTHING : { param, chain: whole };
    }
    const reachable = chain.filter(({ type }) => access.on(type, 's') !== 'nothing');
    if (reachable.length === 0) missing.push(neededOn(chain.length === 1 ? chain[0]!.type : '*', 's'));
    return { param, chain: reachable.map((target) => narrowTarget(target, walk)) };
  }
  if ('has' in condition) {
    const { has } = condition;
    if (has.isReadable === true) return condition;
    if (access.on(has.type, 's') === 'nothing') missing.push(neededOn(has.type, 's'));
    return { has: narrowTarget(has, walk) };
  }
  return condition;
}

/**
 * Of what is within a resource, that of types which may be searched without any constraint: those are of resources that have a place
 * of their own. None is left where nothing matches.
 */
function wholly(chain: readonly Target[], walk: Walk): readonly Target[] {
  const whole = chain.filter(({ type }) => walk.access.on(plainType(type), 's') === 'everything');
  return whole.map((target) => ({ ...target, where: narrow(target.where, walk) }));
}

function narrowTarget<T extends Target>(target: T, walk: Walk): T {
  return { ...target, where: withinReach(narrow(target.where, walk), walk.access.on(target.type, 's')) };
}
