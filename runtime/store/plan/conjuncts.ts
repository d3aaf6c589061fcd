import type { Condition, Link } from '../../search/query/query.js';

/** Returns the conditions that have to be fulfilled together. */
export function conjunctsOf(where: Condition): readonly Condition[] {
  return 'all' in where ? where.all : [where];
}

/** The others. What is left out may be several of them together. */
export function without(conjuncts: readonly Condition[], condition: Condition): Condition {
  const done = 'all' in condition && !conjuncts.includes(condition) ? condition.all : [condition];
  return { all: conjuncts.filter((each) => !done.includes(each)) };
}

/** Whether other resources answer it. */
export function isLink(condition: Condition): condition is Link {
  return 'chain' in condition || 'has' in condition;
}
