import type { Condition, ValueTest } from '../../search/query/query.js';
import type { Guard } from '../store.js';

/** Guards that are looked at by one search: it finds what they find, together. */
export interface MergedGuard extends Guard {
  readonly of: readonly Guard[];
}

/** Values that one search asks for, at most. */
const MOST = 500;

/**
 * Guards that expect nothing and ask for values of one parameter, as those of creations mostly do, as one guard that expects nothing:
 * a write may have hundreds. All others stay by themselves.
 */
export function mergeGuards(guards: readonly Guard[]): MergedGuard[] {
  const merged: MergedGuard[] = [];
  const open = new Map<string, { of: Guard[]; any: ValueTest[]; param: string }>();
  const close = (name: string): void => {
    const group = open.get(name);
    open.delete(name);
    const [first] = group?.of ?? [];
    if (group === undefined || first === undefined) return;
    const { of, param, any } = group;
    merged.push({ type: first.type, where: { param, any }, found: [], of });
  };
  for (const guard of guards) {
    const leaf = guard.found.length === 0 ? onlyLeaf(guard.where) : undefined;
    if (leaf === undefined || !('any' in leaf)) {
      merged.push({ ...guard, of: [guard] });
      continue;
    }
    const name = `${guard.type}?${leaf.param}`;
    if ((open.get(name)?.any.length ?? 0) + leaf.any.length > MOST) close(name);
    const group = open.get(name) ?? { of: [], any: [], param: leaf.param };
    open.set(name, group);
    group.of.push(guard);
    group.any.push(...leaf.any);
  }
  for (const name of [...open.keys()]) close(name);
  return merged;
}

function onlyLeaf(where: Condition): Condition | undefined {
  if (!('all' in where)) return where;
  const [only] = where.all;
  return where.all.length === 1 && only !== undefined ? onlyLeaf(only) : undefined;
}
