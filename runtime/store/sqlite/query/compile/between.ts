import type { Condition } from '../../../../search/query/query.js';
import { REGULAR_WIDTH } from '../../write/index-entries.js';
import { rangeOf, type Arm, type Driver } from './index-range.js';
import { probe } from '../probes.js';
import type { SearchRun } from '../run.js';
import { armsOf, rowAt, singleOf } from './ranges.js';
import { column, INDEXES, isIn, TABLES, type Access, type Bound, type RowTest } from './shape.js';
import { boundValues } from '../links/lists.js';
import { and, or, raw, sql, type Sql, type Value } from './sql.js';

/** Conditions that bound a parameter, or the time of resources, together. */
interface Bounded {
  readonly conditions: readonly Condition[];
  /** What one row may fulfil, all of it, to fulfil all conditions. */
  readonly alternatives: readonly (readonly RowTest[])[];
}

/** Most combinations of alternatives. */
const MOST = 8;

/** A range of values. */
interface BetweenDriver extends Driver {
  /** Whether it has no more rows than any of the conditions has by itself: nothing is beside the range. */
  readonly isWhole: boolean;
}

/**
 * Conditions on one parameter that bound it from both sides, as one range of values: which is true of resources that have one
 * value that is no wide interval. The others are few, listed, and asked one by one.
 *
 * @param limit how far the rows are counted; undefined: not at all
 */
export function findBetween(
  run: SearchRun,
  conditions: readonly Condition[],
  limit: number | undefined,
  depth: number,
): readonly BetweenDriver[] {
  const byParam = new Map<string, Bounded>();
  for (const condition of conditions) {
    const tests = toBounds(run, condition);
    const names = new Set(tests.map(({ shape, values }) => `${shape.table.name} ${values[0]}`));
    const [name] = names;
    if (name === undefined || names.size > 1 || tests.length > MOST) continue;
    const before = byParam.get(name) ?? { conditions: [], alternatives: [[]] };
    const alternatives = before.alternatives.flatMap((each) => tests.map((test) => [...each, test]));
    if (alternatives.length > MOST) continue;
    byParam.set(name, { conditions: [...before.conditions, condition], alternatives });
  }
  return [...byParam.values()].flatMap((bounded) => toDriver(run, bounded, limit, depth) ?? []);
}

/** Tests of one row, of which a row has to fulfil some; none: it is no bound. */
function toBounds(run: SearchRun, condition: Condition): readonly RowTest[] {
  if (!('any' in condition || 'updated' in condition)) return [];
  const groups = run.groups(condition);
  if (groups.some(({ shapes }) => shapes[0]?.bounds === undefined)) return [];
  return groups.flatMap(({ shapes, alternatives }) => alternatives.map((values) => ({ shape: shapes[0]!, values })));
}

function toDriver(
  run: SearchRun,
  { conditions, alternatives }: Bounded,
  limit: number | undefined,
  depth: number,
): BetweenDriver | undefined {
  const { shape, values } = alternatives[0]![0]!;
  const param = values[0]!;
  const isIrregular = shape.table !== TABLES.resource && hasIrregular(run, sql`${param}`);
  const accesses = alternatives.map((tests) => accessOf(tests, isIrregular));
  if (!accesses.every((access) => access !== undefined)) return undefined;
  const group = { shapes: [shape], places: [0], alternatives: [values], isListed: true };
  // Each resource is in one row, so that ranges before one need only be asked about that row.
  const arms = accesses.flatMap((access, i): readonly Arm[] => {
    const once = (): Sql => {
      const earlier = accesses
        .slice(0, i)
        .map(({ seek, rest }) => and([seek, rest].map((of) => of(rowAt(depth), NONE))));
      return sql`NOT ${or(earlier)}`;
    };
    return armsOf(run, group, 0, access, depth).map((arm) => ({ ...arm, once }));
  });
  // Though there are none: a page that ended here goes on here when the last one has gone.
  if (shape.table !== TABLES.resource) arms.push(irregularArm(run, param, conditions, depth));
  const [access, ...others] = accesses;
  const single = others.length === 0 ? singleOf(group, access!) : undefined;
  return {
    condition: conditions.length === 1 ? conditions[0]! : { all: conditions },
    arms,
    path: 'between',
    isWhole: !isIrregular,
    count: limit === undefined ? 0 : probe(run, arms.map(rangeOf), limit),
    isExact: true,
    isLazy: true,
    isFar: false,
    repeats: false,
    ...(single && { single }),
  };
}

/** Everything is bound already. */
const NONE = boundValues([]);

/** The range of rows that may fulfil tests together; undefined: it has no end. */
function accessOf(
  tests: readonly RowTest[],
  isIrregular: boolean,
): (Access & Required<Pick<Access, 'rest'>>) | undefined {
  const { shape, values } = tests[0]!;
  const param = values[0]!;
  const name = shape.table.name as 'date' | 'number' | 'resource';
  const { from, to } = lowEnds(tests, name === 'resource' ? 0 : REGULAR_WIDTH[name]);
  if (from === -Infinity || to === Infinity) return undefined;
  const index = name === 'resource' ? 'resource_by_time' : (`${name}_by_low` as const);
  const end = (row: Sql): Sql => column(row, INDEXES[index].columns[0]!);
  const open: Access['seek'] = (row) => and([...isIn(index, row, sql`${param}`), sql`${end(row)} <= ${to}`]);
  return {
    index,
    order: INDEXES[index].columns,
    open,
    seek: (row) => sql`${open(row, NONE)} AND ${end(row)} >= ${from}`,
    rest: (row) =>
      and([
        ...tests.flatMap((test) => test.shape.predicate?.(row, boundValues(test.values)) ?? []),
        ...(isIrregular ? [sql`NOT ${isListed(column(row, 'resource'), param)}`] : []),
      ]),
  };
}

/** Whether some resource has several values of a parameter, or a wide one. */
export function hasIrregular(run: SearchRun, param: Sql): boolean {
  return (
    run.column(sql`SELECT 1 FROM irregular INDEXED BY irregular_by_param WHERE param = ${param} LIMIT 1`).length > 0
  );
}

/** The resource with a key is one of them. */
function isListed(key: Sql, param: Value): Sql {
  return sql`EXISTS (SELECT 1 FROM irregular i WHERE i.resource = ${key} AND i.param = ${param})`;
}

/** Resources with several values, or a wide one: they are few, and asked one by one. */
function irregularArm(run: SearchRun, param: Value, all: readonly Condition[], depth: number): Arm {
  const row = rowAt(depth);
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
          return and([run.go(key), run.check({ all }, key)]);
        },
      },
    ],
    isLazy: true,
    once: () => raw('1'),
    holds: (owner) => and([isListed(owner, param), run.check({ all }, owner)]),
  };
}

/** Where the low end of an interval of such a width lies that fulfils all bounds, or may do so. */
function lowEnds(tests: readonly RowTest[], width: number): { readonly from: number; readonly to: number } {
  let from = -Infinity;
  let to = Infinity;
  for (const { shape, values } of tests) {
    for (const [i, { column, sign }] of (shape.bounds as readonly Bound[]).entries()) {
      const value = Number(values[i + 1]);
      if (sign.startsWith('<')) to = Math.min(to, value);
      else from = Math.max(from, column === 'high' ? value - width : value);
    }
  }
  return { from, to };
}
