import type { Condition, Target, ValueTest } from './query.js';

/**
 * A condition that finds the same, and is alike whatever order its parts and alternatives came in, and however often each:
 * so that a request that waits for writes under the same condition need not care how it was spelled.
 */
export function sortCondition(condition: Condition): Condition {
  if ('all' in condition) return joined(condition.all, 'all');
  if ('some' in condition) return joined(condition.some, 'some');
  if ('not' in condition) return { not: sortCondition(condition.not) };
  if ('chain' in condition) return { param: condition.param, chain: sorted(condition.chain.map(sortTarget)) };
  if ('has' in condition) return { has: sortTarget(condition.has) };
  if ('ids' in condition) return { ids: sorted(condition.ids) };
  if ('updated' in condition) return { updated: sorted(condition.updated) };
  if ('any' in condition) return { param: condition.param, any: sorted<ValueTest>(condition.any) };
  if ('places' in condition) return { param: condition.param, places: sorted(condition.places) };
  if ('composite' in condition) return { ...condition, composite: sorted(condition.composite) };
  return condition;
}

function sortTarget<T extends Target>(target: T): T {
  return { ...target, where: sortCondition(target.where) };
}

function joined(conditions: readonly Condition[], name: 'all' | 'some'): Condition {
  const parts = sorted(conditions.map(sortCondition));
  const [only] = parts;
  if (parts.length === 1 && only !== undefined) return only;
  return name === 'all' ? { all: parts } : { some: parts };
}

/** In the order of their JSON, by code units, each once. */
function sorted<T>(values: readonly T[]): readonly T[] {
  const byText = new Map(values.map((value) => [JSON.stringify(value), value]));
  return [...byText].sort(([a], [b]) => (a < b ? -1 : 1)).map(([, value]) => value);
}
