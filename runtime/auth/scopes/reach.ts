import type { Condition } from '../../search/query/query.js';

/** Which resources of a type may be touched: all, none, or those that fulfil a condition without links. */
export type Reach = 'everything' | 'nothing' | Condition;

/** Returns the union of reaches: resources that at least one of them includes. */
export function eitherReach(reaches: readonly Reach[]): Reach {
  if (reaches.includes('everything')) return 'everything';
  const some = distinct(reaches);
  return some.length === 0 ? 'nothing' : some.length === 1 ? some[0]! : { some };
}

/** Returns the intersection of reaches: resources that all of them include. */
export function commonReach(reaches: readonly Reach[]): Reach {
  if (reaches.includes('nothing')) return 'nothing';
  const all = distinct(reaches);
  return all.length === 0 ? 'everything' : all.length === 1 ? all[0]! : { all };
}

/** A condition within a reach. `nothing` finds nothing. */
export function withinReach(where: Condition, reach: Reach): Condition {
  if (reach === 'everything') return where;
  if (reach === 'nothing') return { some: [] };
  return 'all' in where ? { all: [...where.all, reach] } : { all: [where, reach] };
}

/** The conditions, each once. */
function distinct(reaches: readonly Reach[]): readonly Condition[] {
  const found = new Map<string, Condition>();
  for (const reach of reaches) if (typeof reach !== 'string') found.set(JSON.stringify(reach), reach);
  return [...found.values()];
}
