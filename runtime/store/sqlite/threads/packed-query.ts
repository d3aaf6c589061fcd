import type { Condition, Leaf, ReferenceTest, ValueTest } from '../../../search/query/query.js';
import type { FindQuery } from '../../store.js';

/** A query on its way between threads: of references to many resources the ids are in lists, which are cloned ten times as fast. */
export type PackedQuery = Omit<FindQuery, 'where'> & { readonly where: PackedCondition };

type PackedCondition =
  | { readonly all: readonly PackedCondition[] }
  | { readonly some: readonly PackedCondition[] }
  | { readonly param: string; readonly packed: readonly PackedReferences[] }
  | Condition;

/** Tests that differ in their ids alone. */
interface PackedReferences {
  readonly like: Omit<ReferenceTest, 'id'>;
  readonly ids: readonly string[];
}

/** Fewer tests are passed as they are. */
const MANY = 20;

export function packQuery(query: FindQuery): PackedQuery {
  const where = packCondition(query.where);
  return where === query.where ? query : { ...query, where };
}

function packCondition(condition: Condition): PackedCondition {
  if ('all' in condition) return condition.all.length === 0 ? condition : { all: condition.all.map(packCondition) };
  if ('some' in condition) return { some: condition.some.map(packCondition) };
  if (!('any' in condition) || condition.any.length < MANY) return condition;
  return packLeaf(condition);
}

function packLeaf(leaf: Extract<Leaf, { readonly any: unknown }>): PackedCondition {
  const groups = new Map<string, { like: Omit<ReferenceTest, 'id'>; ids: string[] }>();
  for (const test of leaf.any) {
    if (test.is !== 'reference' || test.id === undefined) return leaf;
    const { types, id, base, version, versionPrefix, url, fragment } = test;
    if ([version, versionPrefix, url, fragment].some((each) => each !== undefined)) return leaf;
    const key = `${types?.join() ?? '*'} ${base ?? ''}`;
    const group = groups.get(key);
    if (group !== undefined) {
      group.ids.push(id);
      continue;
    }
    const { id: _id, ...like } = test;
    groups.set(key, { like, ids: [id] });
  }
  return { param: leaf.param, packed: [...groups.values()] };
}

/** The query again, on the other side. */
export function unpackQuery(query: PackedQuery): FindQuery {
  return { ...query, where: unpackCondition(query.where) };
}

function unpackCondition(condition: PackedCondition): Condition {
  if ('packed' in condition) {
    const any = condition.packed.flatMap(({ like, ids }) => ids.map((id): ValueTest => ({ ...like, id })));
    return { param: condition.param, any };
  }
  if ('all' in condition) return { all: condition.all.map(unpackCondition) };
  return 'some' in condition ? { some: condition.some.map(unpackCondition) } : condition;
}
