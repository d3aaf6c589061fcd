import { type Condition, type SortKey, valuedBy } from '../../../search/query/query.js';
import type { SortValue } from '../../../search/query/sort.js';
import { systemsOf } from './compile/driver.js';
import { column, indexedBy, INDEXES, isIn, TABLES, type Index, type Table } from './compile/shape.js';
import type { Hit } from './hit.js';
import type { SearchRun } from './run.js';
import type { SortColumns } from './sort-values.js';
import { and, join, raw, sql, type Sql } from './compile/sql.js';

/** Resources that have a value, all that are to be compared by it alone. */
export interface Ranked {
  readonly key: number;
  readonly value: SortValue;
  /** The columns that were asked for besides. */
  readonly more: readonly unknown[];
}

/** An index that has the values of a key in their order. */
interface SortIndex {
  readonly table: Table;
  readonly column: string;
  readonly index: Index;
  /** Whether many share a value: each is read by itself, so that its resources come in the order of keys. */
  readonly isShared: boolean;
}

const BY: Readonly<Partial<Record<SortKey['by'], Index>>> = {
  string: 'string_by_value',
  number: 'number_by_low',
  date: 'date_by_low',
  uri: 'uri_by_value',
  reference: 'reference_by_text',
  token: 'token_by_value',
  updated: 'resource_by_time',
  id: 'resource_by_id',
};

const SHARED: ReadonlySet<SortKey['by']> = new Set(['uri', 'reference', 'token']);

function indexOf({ by, isDescending }: SortKey): SortIndex | undefined {
  const index = by === 'date' && isDescending ? 'date_by_high' : BY[by];
  if (index === undefined) return undefined;
  const { table, columns } = INDEXES[index];
  return { table, column: columns[0]!, index, isShared: SHARED.has(by) };
}

/** Whether there is an index that has the values of a key in their order: values of several parameters are not in one. */
export function hasIndex(key: SortKey): boolean {
  return valuedBy(key).length <= 1 && indexOf(key) !== undefined;
}

/**
 * Resources that fulfil a condition and have a value, in the order of it and then of keys: from a place on, if there is one
 * (`isWhole`: from the beginning of its value).
 *
 * @param sortKey one that `hasIndex`
 * @param select further columns of a resource
 */
export function ranked(
  run: SearchRun,
  sortKey: SortKey,
  where: Condition,
  after: Hit | undefined,
  isWhole: boolean,
  select: SortColumns['select'],
): Iterable<Ranked> {
  const value = after?.values[0] ?? undefined;
  // It had no value: all that have one came before it.
  if (after !== undefined && value === undefined) return [];
  const start = after === undefined ? undefined : { value: value!, key: isWhole ? -1 : after.key };
  const source = indexOf(sortKey)!;
  const isHead = source.table === TABLES.resource;
  const param = isHead ? run.type : run.dictionary.findParam(run.type, valuedBy(sortKey)[0]!, 0);
  if (param === undefined) return [];
  const { isDescending } = sortKey;
  const key = column(D, source.table.key);
  const walk = {
    source,
    run,
    key,
    param,
    isDescending,
    range: and(isIn(source.index, D, sql`${param}`)),
    more: select(key),
    best: isHead ? run.check(where, key) : isBest(run, where, source, isDescending),
  };
  return source.isShared ? byBlocks(walk, start) : byValue(walk, start);
}

interface Start {
  readonly value: SortValue;
  /** Those of the same value come with a key above this. */
  readonly key: number;
}

/** A walk through an index. */
interface Walk {
  readonly source: SortIndex;
  readonly run: SearchRun;
  /** Column of the resource's key. */
  readonly key: Sql;
  readonly param: number;
  readonly isDescending: boolean;
  /** All rows of the parameter. */
  readonly range: Sql;
  readonly more: Sql;
  /** What is asked of each row. */
  readonly best: Sql;
}

const D = raw('d');

/** So many values of a resource are each compared with all. */
const FEW = 8;

/**
 * Whether the resource of a row fulfils the condition, and the row is its best: for which none other is better. Mostly it is the only
 * one. The rows come from the best to the worst, so of a resource that has many only the first is asked: asking each would take the
 * square of their number.
 */
function isBest(
  run: SearchRun,
  where: Condition,
  { table: { name }, column: by }: SortIndex,
  isDescending: boolean,
): Sql {
  const own = (row: string): Sql => sql`FROM ${raw(`${name} ${row}`)} INDEXED BY ${raw(`sqlite_autoindex_${name}_1`)}
    WHERE ${raw(`${row}.resource = d.resource AND ${row}.param = d.param`)} AND ${run.look(raw(row), 'param')}`;
  const isAlone = (others: number): Sql => sql`(SELECT 1 ${own('m')} LIMIT 1 OFFSET ${raw(String(others))}) IS NULL`;
  const key = column(D, 'resource');
  const asked = run.check(where, key);
  const sign = isDescending ? '>' : '<';
  const better = raw(`o.${by} ${sign} d.${by}`);
  return sql`CASE WHEN ${isAlone(1)} THEN ${asked} WHEN (CASE WHEN ${isAlone(FEW)} THEN 1 ELSE ${run.met.isFirst(key)} END)
    THEN ${asked} AND NOT EXISTS (SELECT 1 ${own('o')} AND ${better}) ELSE 0 END`;
}

/** So many ranges are merged; rows of more are put in order. */
const MOST_MERGED = 100;

/**
 * Rows of a walk in one of some ranges, each resource once: it may have its best value twice. SQLite merges ranges, so that it reads no
 * more of them than are wanted.
 *
 * @param value of all rows; absent: each has another
 */
function* rowsIn(walk: Walk, ranges: readonly Sql[], value?: SortValue): Generator<Ranked> {
  const { run, key, source, isDescending } = walk;
  const selects = ranges.map(
    (range) => sql`SELECT ${key}, ${column(D, source.column)} ${walk.more} FROM ${raw(source.table.name)} d
    ${indexedBy(source.index)} WHERE ${walk.range} ${range} AND ${run.go(key)} AND ${walk.best}`,
  );
  const order = raw(value === undefined ? `2 ${isDescending ? 'DESC' : 'ASC'}, 1` : '1');
  const statement = sql`${join(selects, ' UNION ALL ')} ORDER BY ${order}`;
  let last: number | undefined;
  for (const [at, first, ...more] of run.rows<readonly [number, string | number, ...unknown[]]>(statement)) {
    if (at !== last) yield { key: at, value: value ?? [first], more };
    last = at;
  }
}

function* byValue(walk: Walk, start: Start | undefined): Generator<Ranked> {
  const own = column(D, walk.source.column);
  if (start === undefined) return yield* rowsIn(walk, [sql``]);
  const [value] = start.value;
  yield* rowsIn(walk, [sql`AND ${own} = ${value!} AND ${walk.key} > ${start.key}`]);
  yield* rowsIn(walk, [sql`AND ${own} ${raw(walk.isDescending ? '<' : '>')} ${value!}`]);
}

/** Rows value by value. */
function* byBlocks(walk: Walk, start: Start | undefined): Generator<Ranked> {
  const first = start?.value[0];
  const own = column(D, walk.source.column);
  for (const text of distinct(walk, first)) {
    const range = sql`AND ${own} = ${text} AND ${walk.key} > ${text === first ? start!.key : -1}`;
    // The index has the rows of a code by system.
    const systems = walk.source.table === TABLES.token ? systemsOf(walk.run, walk.param, text) : [];
    const isMerged = systems.length > 0 && systems.length <= MOST_MERGED;
    yield* rowsIn(walk, isMerged ? systems.map((system) => sql`${range} AND d.system = ${system}`) : [range], [text]);
  }
}

/** All values of a column, one after the other, from one on. */
function* distinct({ run, source, range, isDescending }: Walk, first?: string | number) {
  const value = column(D, source.column);
  const direction = raw(isDescending ? 'DESC' : 'ASC');
  let from = first === undefined ? sql`` : sql`AND ${value} ${raw(isDescending ? '<=' : '>=')} ${first}`;
  for (;;) {
    const [next] = run.column<string>(
      sql`SELECT ${value} FROM ${raw(source.table.name)} d ${indexedBy(source.index)} WHERE ${range} ${from} AND ${run.go(value)}
        ORDER BY ${value} ${direction} LIMIT 1`,
    );
    if (next === undefined) return;
    yield next;
    from = sql`AND ${value} ${raw(isDescending ? '<' : '>')} ${next}`;
  }
}
