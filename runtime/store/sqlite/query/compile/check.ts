import type { Condition } from '../../../../search/query/query.js';
import type { CompileContext } from './compile-context.js';
import type { LeafGroup } from './leaf.js';
import { isLink } from '../../../plan/conjuncts.js';
import { isImplied } from './simplify.js';
import { checkLink } from '../links/links.js';
import { boundValues, from, listValues } from '../links/lists.js';
import { column, indexedBy, ofParam, type Access, type Shape, type Values } from './shape.js';
import { and, keyOf, or, raw, sql, type Sql } from './sql.js';

/** More alternatives than this go as a list. */
export const MAX_INLINE = 8;

/** Up to so many alternatives are looked up one by one. */
const MAX_SEEKS = 3;

/**
 * A condition on the resource with this key, answered by its own rows: found by their primary keys. Links lead to others.
 *
 * @param depth how many links there are around it
 */
export function check(condition: Condition, key: Sql, context: CompileContext, depth = 0): Sql {
  // Another condition beside it is stricter.
  if (isImplied(condition)) return raw('1');
  if ('all' in condition) return and(condition.all.map((each) => check(each, key, context, depth)));
  if ('some' in condition) return or(condition.some.map((each) => check(each, key, context, depth)));
  if ('not' in condition) return sql`NOT ${check(condition.not, key, context, depth)}`;
  if (isLink(condition)) return checkLink(condition, key, context, depth);
  return or(context.groups(condition).map((group) => checkGroup(group, key, context)));
}

function checkGroup(all: LeafGroup, key: Sql, context: CompileContext): Sql {
  const group = askedApart(all);
  const { alternatives, shapes } = group;
  const [shape] = shapes;
  if (shape === undefined) return raw('0');
  if (alternatives.length <= MAX_INLINE) {
    const param = alternatives[0]?.[0];
    const isByValue = alternatives.length <= MAX_SEEKS && accessByValue(shape) !== undefined;
    if (
      shapes.length > 1 ||
      isByValue ||
      shape.predicate === undefined ||
      !alternatives.every((values) => values[0] === param)
    ) {
      return or(alternatives.map((values) => checkParts(group, boundValues(values), { key }, context)));
    }
    const predicates = alternatives.map((values) => shape.predicate!(ROWS[0]!, boundValues(values)));
    return exists(shape, 0, { key }, boundValues(alternatives[0]!), [or(predicates)], context);
  }
  const list = context.list(alternatives);
  const lead = leadingPart(group);
  if (lead !== undefined) return checkFromRows(group, lead, list, key, context);
  return sql`EXISTS (SELECT 1 FROM ${list} v WHERE ${checkParts(group, listValues('v'), { key }, context)})`;
}

/** A part whose values are looked up in a list by those of a row: all of one parameter, and equal to something. */
function leadingPart({ shapes, places, alternatives }: LeafGroup): number | undefined {
  const found = shapes.findIndex(({ equal }, i) => {
    const place = places[i]!;
    const param = alternatives[0]?.[place];
    return equal !== undefined && alternatives.every((values) => values[place] === param);
  });
  return found < 0 ? undefined : found;
}

/**
 * The same as to try each alternative with `checkParts`: from the rows of one part to the alternatives with their values, of which SQLite
 * makes an index once. To go through a thousand alternatives for each resource takes a hundred times as long.
 */
function checkFromRows(group: LeafGroup, part: number, list: Sql, key: Sql, context: CompileContext): Sql {
  const { shapes, places, alternatives } = group;
  const shape = shapes[part]!;
  const row = ROWS[part]!;
  const place = places[part]!;
  const theirs = from(listValues('v'), place + shape.finding);
  const same = shape.equal!.map((name, i) => sql`${theirs(i + 1)} = ${column(row, name)}`);
  const others = checkParts(group, listValues('v'), { key, group: column(row, 'part_group') }, context, [part]);
  const alike = sql`EXISTS (WITH l AS MATERIALIZED (SELECT * FROM ${list})
    SELECT 1 FROM l v WHERE ${and([...same, others])})`;
  return exists(shape, part, { key }, from(boundValues(alternatives[0]!), place), [alike], context);
}

/** Alternatives that differ only in where their rows are found are one to a resource that is known. */
function askedApart(group: LeafGroup): LeafGroup {
  const finding = group.shapes[0]?.finding ?? 0;
  if (finding === 0) return group;
  const byAsked = new Map(
    group.alternatives.map((values) => [keyOf([values[0]!, ...values.slice(1 + finding)]), values]),
  );
  return { ...group, alternatives: [...byAsked.values()] };
}

/** Names of the rows of each part. */
const ROWS = Array.from({ length: 12 }, (_, i) => raw(`t${i}`));

/** Whose rows are asked for: of a resource, and of a group of its rows where the first part has been found. */
interface Owner {
  readonly key: Sql;
  readonly group?: Sql;
}

/** There are rows for all parts, of one group. @param done parts that are known to be fulfilled */
export function checkParts(
  group: LeafGroup,
  values: Values,
  owner: Owner,
  context: CompileContext,
  done: readonly number[] = [],
): Sql {
  const { shapes, places, isListed } = group;
  const [first, ...others] = shapes.map((_, i) => i).filter((i) => !done.includes(i));
  if (first === undefined) return raw('1');
  const shape = shapes[first]!;
  const row = ROWS[first]!;
  const own = from(values, places[first]!);
  const one = { key: owner.key, group: owner.group ?? column(row, 'part_group') };
  const more = others.map((i) => checkParts(group, values, one, context, without(shapes, i)));
  const access = isListed ? accessByValue(shape) : undefined;
  if (access !== undefined) return exists(shape, first, owner, own, more, context, access);
  const predicate = shape.predicate === undefined ? [] : [shape.predicate(row, own)];
  return exists(shape, first, owner, own, [...predicate, ...more], context);
}

function without(shapes: readonly unknown[], kept: number): readonly number[] {
  return shapes.map((_, i) => i).filter((i) => i !== kept);
}

/**
 * The index that has the rows of one value by their resources. Where a value is known, it is a better way to the row of a
 * resource than the primary key: all rows of one value lie together, and those of one resource somewhere else each time.
 */
function accessByValue({ accesses, table }: Shape): Access | undefined {
  if (table.key === 'key') return undefined;
  return accesses.find(({ order, rest }) => order.length === 1 && rest === undefined);
}

/** @param access finds the row by its value; absent: by the primary key, and `conditions` have to ask for the value */
function exists(
  { table }: Shape,
  part: number,
  { key, group }: Owner,
  values: Values,
  conditions: readonly Sql[],
  { look }: CompileContext,
  access?: Access,
): Sql {
  const row = ROWS[part]!;
  const where = [
    sql`${column(row, table.key)} = ${key}`,
    access === undefined ? ofParam(table, row, values(0)) : access.seek(row, values),
    ...(group === undefined ? [] : [sql`${column(row, 'part_group')} = ${group}`]),
    look(row, table.key),
    ...conditions,
  ];
  const by = access === undefined ? table.byKey : indexedBy(access.index);
  return sql`EXISTS (SELECT 1 FROM ${raw(table.name)} ${row} ${by} WHERE ${and(where)})`;
}
