import type { Condition, Leaf } from '../../../../search/query/query.js';
import { REGULAR_WIDTH } from '../../write/index-entries.js';
import { rangeOf, type Arm, type Driver } from './index-range.js';
import { boundValues } from '../links/lists.js';
import { probe } from '../probes.js';
import type { Run } from '../run.js';
import { column, INDEXES, isIn, TABLES, type Bound, type RowTest } from './shape.js';
import { and, or, raw, sql, type Sql } from './sql.js';

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

/** A range of values. */
interface BetweenDriver extends Driver {
  /** Whether it has no more rows than any of the conditions has by itself: nothing is beside the range. */
  readonly isWhole: boolean;
}

/** Most combinations of alternatives. */
const MOST = 8;

/**
 * Conditions on one parameter that bound it from both sides, as one range of values: which is true of resources that have one
 * value that is no wide interval. The others are few, listed, and asked one by one.
 *
 * @param limit how far the rows are counted; undefined: not at all
 */
export function findBetween(
  run: Run,
  conditions: readonly Condition[],
  limit: number | undefined,
  depth: number,
): readonly BetweenDriver[] {
  const byParam = new Map<string, Bounded>();
  for (const condition of conditions) {
    const bounded = toBounded(run, condition);
    if (bounded === undefined) continue;
    const name = `${bounded.table} ${bounded.param}`;
    const before = byParam.get(name);
    const both = before === undefined ? bounded : combine(before, bounded);
    if (both.alternatives.length <= MOST) byParam.set(name, both);
  }
  return [...byParam.values()].flatMap((bounded) => toDriver(run, bounded, limit, depth) ?? []);
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

function toDriver(run: Run, bounded: Bounded, limit: number | undefined, depth: number): BetweenDriver | undefined {
  const { table, leaves, alternatives } = bounded;
  const isTime = table === 'resource';
  const spans = alternatives.map(({ limits }) => lowEnds(limits, isTime ? 0 : REGULAR_WIDTH[table]));
  if (spans.some(({ from, to }) => from === -Infinity || to === Infinity)) return undefined;
  const condition = leaves.length === 1 ? leaves[0]! : { all: leaves };
  const isIrregular = !isTime && hasIrregular(run, sql`${bounded.param}`);
  const arms = alternatives.map((_, i) => armOf(run, bounded, i, spans, isIrregular, depth));
  // Though there are none: a page that ended here goes on here when the last one has gone.
  if (!isTime) arms.push(irregularArm(run, bounded, depth));
  const count = limit === undefined ? 0 : probe(run, arms.map(rangeOf), limit);
  const [only, ...others] = alternatives;
  const key = raw('d.resource');
  const single =
    isTime || others.length > 0
      ? undefined
      : {
          key,
          param: sql`${bounded.param}`,
          rows: sql`FROM ${tableOf(bounded, ROW)} WHERE ${within(bounded, spans[0]!, ROW)} AND ${askRow(only!.tests, ROW)}`,
        };
  return {
    condition,
    arms,
    path: 'between',
    isWhole: !isIrregular,
    count,
    isExact: true,
    isLazy: true,
    isFar: false,
    repeats: false,
    ...(single && { single }),
  };
}

/** Those with one regular value: each is in one row, so that alternatives before this one need only be asked about that row. */
function armOf(
  run: Run,
  bounded: Bounded,
  place: number,
  spans: readonly Span[],
  isIrregular: boolean,
  depth: number,
): Arm {
  const { table, param, alternatives } = bounded;
  const row = raw(`d${depth}`);
  const isTime = table === 'resource';
  const key = column(row, isTime ? 'key' : 'resource');
  const isInRange = (i: number, of: Sql): Sql =>
    and([within(bounded, spans[i]!, of), askRow(alternatives[i]!.tests, of)]);
  const irregular = (owner: Sql): Sql =>
    sql`EXISTS (SELECT 1 FROM irregular i WHERE i.resource = ${owner} AND i.param = ${param})`;
  const apart = isIrregular ? [sql`NOT ${irregular(key)}`] : [];
  const earlier = alternatives.slice(0, place).map((_, i) => isInRange(i, row));
  const other = raw('o');
  return {
    key,
    levels: [
      {
        table: tableOf(bounded, row),
        where: within(bounded, spans[place]!, row),
        open: () => within(bounded, { ...spans[place]!, from: -Infinity }, row),
        order: INDEXES[indexOf(bounded)].columns.map((name) => column(row, name)),
        asked: and([run.go(key), askRow(alternatives[place]!.tests, row), ...apart]),
      },
    ],
    isLazy: true,
    once: () => (earlier.length === 0 ? raw('1') : sql`NOT ${or(earlier)}`),
    holds: (owner) => sql`EXISTS (SELECT 1 FROM ${raw(table)} o ${TABLES[table].byKey}
      WHERE ${column(other, isTime ? 'key' : 'resource')} = ${owner} AND ${isInRange(place, other)}
      ${isIrregular ? sql`AND NOT ${irregular(owner)}` : sql``})`,
  };
}

/** Whether some resource has several values of a parameter, or a wide one. */
export function hasIrregular(run: Run, param: Sql): boolean {
  return (
    run.column(sql`SELECT 1 FROM irregular INDEXED BY irregular_by_param WHERE param = ${param} LIMIT 1`).length > 0
  );
}

/** Resources with several values, or a wide one: they are few, and asked one by one. */
function irregularArm(run: Run, { param, leaves }: Bounded, depth: number): Arm {
  const row = raw(`d${depth}`);
  const key = column(row, 'resource');
  return {
    key,
    levels: [
      {
        table: sql`irregular ${row} INDEXED BY irregular_by_param`,
        where: sql`${row}.param = ${param}`,
        order: [key],
        // Mostly the page is full before.
        get asked() {
          return and([run.go(key), run.check({ all: leaves }, key)]);
        },
      },
    ],
    isLazy: true,
    once: () => raw('1'),
    holds: (owner) =>
      and([
        sql`EXISTS (SELECT 1 FROM irregular i WHERE i.resource = ${owner} AND i.param = ${param})`,
        run.check({ all: leaves }, owner),
      ]),
  };
}

const ROW = raw('d');

/** The row itself fulfils the tests. */
function askRow(tests: readonly RowTest[], row: Sql): Sql {
  return and(tests.flatMap(({ shape, values }) => shape.predicate?.(row, boundValues(values)) ?? []));
}

function indexOf({ table }: Bounded) {
  return table === 'resource' ? 'resource_by_time' : (`${table}_by_low` as const);
}

function tableOf(bounded: Bounded, row: Sql): Sql {
  return sql`${raw(bounded.table)} ${row} INDEXED BY ${raw(indexOf(bounded))}`;
}

/** The row is in a range of the index. */
function within(bounded: Bounded, { from, to }: Span, row: Sql): Sql {
  const end = column(row, bounded.table === 'resource' ? 'updated' : 'low');
  return and([
    isIn(indexOf(bounded), row, sql`${bounded.param}`),
    ...(from === -Infinity ? [] : [sql`${end} >= ${from}`]),
    sql`${end} <= ${to}`,
  ]);
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
