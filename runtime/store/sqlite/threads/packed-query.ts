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
  readonly like: Pick<ReferenceTest, 'types' | 'base'>;
  readonly ids: readonly string[];
}

/** Fewer tests are passed as they are. */
const MANY = 20;

/** The query as it is passed; of few references all is as it was. */
export function packQuery(query: FindQuery): PackedQuery {
  return { ...query, where: packCondition(query.where) };
}

function packCondition(condition: Condition): PackedCondition {
  if ('all' in condition) return { all: condition.all.map(packCondition) };
  if ('some' in condition) return { some: condition.some.map(packCondition) };
  if (!('any' in condition) || condition.any.length < MANY) return condition;
  return packLeaf(condition);
}

function packLeaf(leaf: Extract<Leaf, { readonly any: unknown }>): PackedCondition {
  const groups = new Map<string, { like: PackedReferences['like']; ids: string[] }>();
  for (const test of leaf.any) {
    if (test.is !== 'reference' || test.id === undefined) return leaf;
    const { types, id, base, version, versionPrefix, url, fragment } = test;
    if (version !== undefined || versionPrefix !== undefined || url !== undefined || fragment !== undefined)
      return leaf;
    const key = `${types?.join() ?? '*'} ${base ?? ''}`;
    const group = groups.get(key);
    if (group !== undefined) {
      group.ids.push(id);
      continue;
    }
    const like = { ...(types !== undefined && { types }), ...(base !== undefined && { base }) };
    groups.set(key, { like, ids: [id] });
  }
  return { param: leaf.param, packed: [...groups.values()] };
}

/** The query again, on the other side. */
export function unpackQuery(query: PackedQuery): FindQuery {
  return { ...query, where: unpackCondition(query.where) };
}

function unpackTests({ like: { types, base }, ids }: PackedReferences): readonly ValueTest[] {
  return ids.map((id) => {
    // Three times as fast as to spread the rest.
    const test: { is: 'reference'; id: string; types?: readonly string[]; base?: string } = { is: 'reference', id };
    if (types !== undefined) test.types = types;
    if (base !== undefined) test.base = base;
    return test;
  });
}

function unpackCondition(condition: PackedCondition): Condition {
  if ('packed' in condition) {
    return { param: condition.param, any: condition.packed.flatMap(unpackTests) };
  }
  if ('all' in condition) return { all: condition.all.map(unpackCondition) };
  return 'some' in condition ? { some: condition.some.map(unpackCondition) } : condition;
}
