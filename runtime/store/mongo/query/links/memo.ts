import type { Plan } from '../plan/plan.js';

/** What was made of plans of types, up to limits. */
export type Memo<T> = (type: string, plan: Plan, limit: number, make: () => Promise<T>) => Promise<T>;

/**
 * Makes each once, also where several ask for it at the same time or it fails. Plans are told apart as objects: what stands at many
 * places of a search is one (`intoContained`). What is made has to come of the type, the plan, the limit and the search alone.
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
