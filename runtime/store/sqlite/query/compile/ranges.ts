import { asSingleValues, boundValues, from, listValues } from '../links/lists.js';
import type { SearchRun } from '../run.js';
import { checkParts, MAX_INLINE } from './check.js';
import type { Arm, Single } from './index-range.js';
import type { LeafGroup } from './leaf.js';
import { column, indexedBy, type Access, type Values } from './shape.js';
import { and, raw, sql, type Sql } from './sql.js';

const ROW = raw('d');

/** The row of a range that so many links lead to. */
export function rowAt(depth: number): Sql {
  return raw(`d${depth}`);
}

/**
 * Returns the single range for one interval that is asked for by its bounds; undefined: it is not such a test. The
 * store notes which resources have several such values, or a wide one. As long as there are no such resources, only
 * rows of the range match.
 */
export function singleOf({ shapes, alternatives }: LeafGroup, access: Access): Single | undefined {
  const [shape, ...others] = shapes;
  const [only, ...more] = alternatives;
  if (shape?.bounds === undefined || shape.table.key !== 'resource') return undefined;
  if (only === undefined || others.length > 0 || more.length > 0) return undefined;
  const values = boundValues(only);
  const asked = and([access.seek(ROW, values), ...(access.rest === undefined ? [] : [access.rest(ROW, values)])]);
  const rows = sql`FROM ${raw(shape.table.name)} d ${indexedBy(access.index)} WHERE ${asked}`;
  return { key: column(ROW, shape.table.key), param: values(0), rows };
}

/** The rows of a group that are in ranges of an index: those of each alternative by themselves, of many together. */
export function armsOf(run: SearchRun, group: LeafGroup, part: number, access: Access, depth: number): readonly Arm[] {
  const { alternatives } = group;
  if (alternatives.length <= MAX_INLINE) {
    return alternatives.map((values) => armOf(run, group, part, access, boundValues(values), depth));
  }
  const single = asSingleValues(alternatives);
  return [
    single === undefined
      ? armOf(run, group, part, access, listValues('v'), depth, run.list(alternatives))
      : armOf(run, group, part, access, single.values, depth, sql`json_each(${single.json})`),
  ];
}

function armOf(
  run: SearchRun,
  group: LeafGroup,
  part: number,
  access: Access,
  values: Values,
  depth: number,
  list?: Sql,
): Arm {
  const { table } = group.shapes[part]!;
  const own = from(values, group.places[part]!);
  const row = rowAt(depth);
  const key = column(row, table.key);
  /** What a row has to fulfil that the index does not answer. */
  const asked = (of: Sql, owner: Sql): readonly Sql[] => [
    ...(access.rest === undefined ? [] : [access.rest(of, own)]),
    ...(group.shapes.length === 1
      ? []
      : [checkParts(group, values, { key: owner, group: column(of, 'part_group') }, run, [part])]),
  ];
  const other = raw('o');
  const inRange = (owner: Sql, more: readonly Sql[]): Sql => {
    const of = column(other, table.key);
    const tests = and([sql`${of} = ${owner}`, access.seek(other, own), ...more, ...asked(other, of)]);
    return sql`EXISTS (SELECT 1 FROM ${raw(table.name)} o ${table.byKey} WHERE ${tests})`;
  };
  // Where all rows of a range have the same value those of a resource lie side by side. Each would open the same ranges, though.
  const isOnce = (access.order.length === 1 && depth === 0) || table.key !== 'resource';
  const source = sql`${raw(table.name)} ${row} ${indexedBy(access.index)}`;
  return {
    key,
    levels: [
      {
        table: list === undefined ? source : sql`${list} v CROSS JOIN ${source}`,
        where: access.seek(row, own),
        ...(access.open && { open: () => access.open!(row, own) }),
        order: access.order.map((name) => column(row, name)),
        asked: and([run.go(key), ...asked(row, key)]),
      },
    ],
    isLazy: list === undefined,
    once: () => (isOnce ? raw('1') : sql`NOT ${inRange(key, [sql`o.n < ${column(row, 'n')}`, run.look(other, 'n')])}`),
    holds: (owner) => inRange(owner, [run.look(other, table.key)]),
  };
}
