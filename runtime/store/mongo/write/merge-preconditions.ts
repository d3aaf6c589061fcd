import { append } from '../../../fhir/lists.js';
import type { Condition, Leaf, ValueTest } from '../../../search/query/query.js';
import type { Precondition } from '../../store.js';

/** Preconditions that are looked at by one search: it finds what they find, together. */
export interface MergedPrecondition extends Precondition {
  readonly of: readonly Precondition[];
}

/** Values that one search asks for, at most: of so many it need not be counted first how much each finds. */
const MOST = 100;

/**
 * Preconditions that ask for values of one parameter, as those of creations and updates mostly do, as one precondition: a write may have
 * hundreds. Those that expect to find something only where they ask for tokens, whose rows tell who has found what.
 */
export function mergePreconditions(preconditions: readonly Precondition[]): MergedPrecondition[] {
  const merged: MergedPrecondition[] = [];
  const open = new Map<string, { of: Precondition[]; any: ValueTest[]; param: string }>();
  const close = (name: string): void => {
    const { of = [], param = '', any = [] } = open.get(name) ?? {};
    open.delete(name);
    const [first] = of;
    if (first === undefined) return;
    const found = [...new Set(of.flatMap((each) => each.found))];
    merged.push(of.length === 1 ? { ...first, of } : { type: first.type, where: { param, any }, found, of });
  };
  for (const precondition of preconditions) {
    const leaf = onlyLeaf(precondition.where);
    const isOfTokens = leaf !== undefined && 'any' in leaf && leaf.any.every(({ is }) => is === 'token');
    if (leaf === undefined || !('any' in leaf) || !(precondition.found.length === 0 || isOfTokens)) {
      merged.push({ ...precondition, of: [precondition] });
      continue;
    }
    const name = `${precondition.type}?${leaf.param} ${isOfTokens}`;
    if ((open.get(name)?.any.length ?? 0) + leaf.any.length > MOST) close(name);
    const group = open.get(name) ?? { of: [], any: [], param: leaf.param };
    open.set(name, group);
    group.of.push(precondition);
    append(group.any, leaf.any);
  }
  for (const name of [...open.keys()]) close(name);
  return merged;
}

/** The leaf that a condition comes to; undefined: it is none. */
export function onlyLeaf(where: Condition): Leaf | undefined {
  if ('some' in where || 'not' in where || 'chain' in where || 'has' in where) return undefined;
  if (!('all' in where)) return where;
  const [only] = where.all;
  return where.all.length === 1 && only !== undefined ? onlyLeaf(only) : undefined;
}
