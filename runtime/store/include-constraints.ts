import { ask, nameOf, type FoundKey, type IncludeStep, type Steps, type VersionKey } from './include-steps.js';
import type { IncludeDirective, ResourceKey } from './store.js';

/** Constraints, by type, that resources have to fulfil to be included. */
export type IncludeConstraints = NonNullable<IncludeDirective['within']>;

/** Resources of which is asked at a time whether they are within bounds. */
const JUDGED = 500;

/** Keeps the resources that fulfil the constraints of their type; of types without constraints all. */
export function* keepWithin(within: IncludeConstraints, keys: readonly VersionKey[]): Steps<readonly FoundKey[]> {
  const asked = new Map<string, Set<string>>();
  for (const { type, id } of keys) {
    if (!Object.hasOwn(within, type)) continue;
    const ids = asked.get(type);
    if (ids === undefined) asked.set(type, new Set([id]));
    else ids.add(id);
  }
  if (asked.size === 0) return keys;
  const kept = new Set<string>();
  for (const [type, ids] of asked) {
    const all = [...ids];
    for (let at = 0; at < all.length; at += JUDGED) {
      const step = { ask: 'within', type, where: within[type]!, of: all.slice(at, at + JUDGED) } as const;
      for (const id of yield* ask<readonly string[]>(step)) kept.add(nameOf({ type, id }));
    }
  }
  return keys.flatMap((key): readonly FoundKey[] => {
    const { type, id } = key;
    if (!asked.has(type)) return [key];
    return kept.has(nameOf({ type, id })) ? [{ ...key, isCurrentOnly: true }] : [];
  });
}

/**
 * As many of what a step found as it wants, within bounds: it is asked for more where too few are left, since what lies
 * outside must not be seen to have taken places.
 *
 * @param found the answer to the step
 */
export function* refine(
  within: IncludeConstraints,
  step: Extract<IncludeStep, { ask: 'canonicals' | 'sources' }>,
  found: readonly ResourceKey[],
): Steps<readonly ResourceKey[]> {
  for (let { limit } = step, keys = found; ; limit *= 4) {
    const kept = yield* keepWithin(within, keys);
    if (keys.length < limit || kept.length === keys.length || kept.length >= step.limit) return kept;
    keys = yield* ask<readonly ResourceKey[]>({ ...step, limit: 4 * limit });
  }
}
