import type { Plan } from '../plan/plan.js';

/** Memo of values that are made of a type, a plan and a limit. */
export type Memo<T> = (type: string, plan: Plan, limit: number, make: () => Promise<T>) => Promise<T>;

/**
 * Computes each value once, also for concurrent callers and if it fails. Plans are compared by identity: a plan that occurs several
 * times in a search is one object (`intoContained`). The value must depend on the type, plan, limit and search only.
 */
export function openMemo<T>(): Memo<T> {
  const known = new WeakMap<Plan, Map<string, Promise<T>>>();
  return (type, plan, limit, make) => {
    const of = known.get(plan) ?? new Map<string, Promise<T>>();
    known.set(plan, of);
    const name = `${limit} ${type}`;
    const made = of.get(name) ?? make();
    of.set(name, made);
    return made;
  };
}
