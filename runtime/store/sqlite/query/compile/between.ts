import type { Condition, Leaf } from '../../../../search/query/query.js';
import { REGULAR_WIDTH } from '../../write/index-entries.js';
import type { IndexRange, Driver } from './index-range.js';
import { boundValues } from '../links/lists.js';
import { probe } from '../probes.js';
import type { Run } from '../run.js';
import { listedOf, TABLES, type Bound, type RowTest } from './shape.js';
import { and, raw, sql, type Sql } from './sql.js';

/** Bounds of one parameter that a resource has to fulfil together: one of each leaf's alternatives. */
interface Bounded {
  readonly table: 'date' | 'number' | 'resource';
  /** Of the resources themselves: the type. */
  readonly param: number;
  readonly leaves: readonly Leaf[];
  readonly alternatives: readonly Alternative[];
}

/** What one row may fulfil, all of it, to fulfil all leaves. */
interface Alternative {
  readonly limits: readonly Limit[];
  readonly tests: readonly RowTest[];
}

type Limit = Bound & { readonly value: number };

/** Most combinations of alternatives. */
const MOST = 8;

/**
 * Conditions on one parameter that bound it from both sides, as one range of values: which is true of resources that have one
 * value that is no wide interval. The others are few, listed, and asked one by one.
 */
export function findBetween(run: Run, conditions: readonly Condition[], limit: number): readonly Driver[] {
  const byParam = new Map<string, Bounded>();
  for (const condition of conditions) {
    const bounded = toBounded(run, condition);
    if (bounded === undefined) continue;
    const name = `${bounded.table} ${bounded.param}`;
    const before = byParam.get(name);
    const both = before === undefined ? bounded : combine(before, bounded);
    if (both.alternatives.length <= MOST) byParam.set(name, both);
  }
  return [...byParam.values()].flatMap((bounded) => toDriver(run, bounded, limit) ?? []);
}

function toBounded(run: Run, condition: Condition): Bounded | undefined {
  if (!('any' in condition || 'updated' in condition)) return undefined;
  const groups = run.groups(condition);
  const alternatives: Alternative[] = [];
  let found: Pick<Bounded, 'table' | 'param'> | undefined;
  for (const { shapes, alternatives: rows } of groups) {
    const shape = shapes[0]!;
    const { bounds, table } = shape;
    if (bounds === undefined || rows.length > MOST) return undefined;
    for (const values of rows) {
      const param = Number(values[0]);
      if (found !== undefined && found.param !== param) return undefined;
      found = { table: table.name as Bounded['table'], param };
      const limits = bounds.map((bound, i) => ({ ...bound, value: Number(values[i + 1]) }));
      alternatives.push({ limits, tests: [{ shape, values }] });
    }
  }
  return found === undefined ? undefined : { ...found, leaves: [condition], alternatives };
}

function combine(one: Bounded, other: Bounded): Bounded {
  const alternatives = one.alternatives.flatMap((left) =>
    other.alternatives.map((right) => ({
      limits: [...left.limits, ...right.limits],
      tests: [...left.tests, ...right.tests],
    })),
  );
  return { ...one, leaves: [...one.leaves, ...other.leaves], alternatives };
}

function toDriver(run: Run, bounded: Bounded, limit: number): Driver | undefined {
  const { table, leaves, alternatives } = bounded;
  const spans = alternatives.map(({ limits }) => lowEnds(limits, table === 'resource' ? 0 : REGULAR_WIDTH[table]));
  if (spans.some(({ from, to }) => from === -Infinity || to === Infinity)) return undefined;
  const key = raw(table === 'resource' ? 'd.key' : 'd.resource');
  const arm = (range: Sql, asked: Sql): IndexRange => {
    return { key, range, rows: sql`${range} AND ${run.go(key)} AND ${asked}`, isOrdered: false };
  };
  const arms = alternatives.map(({ tests }, i) => arm(rangeOf(bounded, spans[i]!), askRow(tests)));
  if (table !== 'resource') {
    const irregular = sql`FROM irregular d INDEXED BY irregular_by_param WHERE d.param = ${bounded.param}`;
    arms.push(arm(irregular, run.check({ all: leaves }, key)));
  }
  const count = probe(run, arms.map(({ range }) => range), limit); // prettier-ignore
  const [only, ...others] = alternatives;
  const single =
    table === 'resource' || others.length > 0
      ? undefined
      : { key, param: sql`${bounded.param}`, rows: sql`${rangeOf(bounded, spans[0]!)} AND ${askRow(only!.tests)}` };
  const condition = leaves.length === 1 ? leaves[0]! : { all: leaves };
  return { condition, arms, count, isExact: true, ...(single && { single }) };
}

/** The row itself fulfils the tests. */
function askRow(tests: readonly RowTest[]): Sql {
  return and(tests.flatMap(({ shape, values }) => shape.predicate?.(raw('d'), boundValues(values)) ?? []));
}

function rangeOf({ table, param }: Bounded, { from, to }: Span): Sql {
  if (table === 'resource') {
    return sql`FROM resource d INDEXED BY resource_by_time
      WHERE d.type = ${param} AND d.deleted = 0 AND d.updated >= ${from} AND d.updated <= ${to}`;
  }
  return sql`FROM ${raw(table)} d INDEXED BY ${raw(`${table}_by_low`)}
    WHERE ${listedOf(TABLES[table], raw('d'), boundValues([param]))} AND d.low >= ${from} AND d.low <= ${to}`;
}

interface Span {
  readonly from: number;
  readonly to: number;
}

/** Where the low end of an interval of such a width lies that fulfils all limits, or may do so. */
function lowEnds(limits: readonly Limit[], width: number): Span {
  let from = -Infinity;
  let to = Infinity;
  for (const { column, sign, value } of limits) {
    if (sign.startsWith('<')) to = Math.min(to, value);
    else from = Math.max(from, column === 'high' ? value - width : value);
  }
  return { from, to };
}
