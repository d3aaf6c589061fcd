import { type Condition, type SortKey, valuedBy } from '../../../search/query/query.js';
import { compareText } from '../../../search/query/compare-text.js';
import { compareValues, type SortValue } from '../../../search/query/sort.js';
import { systemsOf } from './compile/driver.js';
import { listedOf, TABLES } from './compile/shape.js';
import { boundValues } from './links/lists.js';
import type { Hit } from './hit.js';
import type { Run } from './run.js';
import type { SortColumns } from './sort-values.js';
import { raw, sql, type Sql } from './compile/sql.js';

/** Resources that have a value, all that are to be compared by it alone. */
export interface Ranked {
  readonly key: number;
  readonly value: SortValue;
  /** With the columns that were asked for besides. */
  readonly row: object;
}

type SortTable = keyof typeof TABLES;

/** An index that has the values of a key in their order. */
interface SortIndex {
  readonly table: SortTable;
  readonly column: string;
  readonly index: string;
}

const { string, number, uri, reference } = {
  string: { table: 'string', column: 'folded', index: 'string_by_value' },
  number: { table: 'number', column: 'low', index: 'number_by_low' },
  uri: { table: 'uri', column: 'value', index: 'uri_by_value' },
  reference: { table: 'reference', column: 'target', index: 'reference_by_text' },
} satisfies Record<string, SortIndex>;

/** Values that few resources share: they are read as one row after the other. */
function streamed({ by, isDescending }: SortKey): SortIndex | undefined {
  switch (by) {
    case 'string':
      return string;
    case 'number':
      return number;
    case 'date':
      return isDescending
        ? { table: 'date', column: 'high', index: 'date_by_high' }
        : { table: 'date', column: 'low', index: 'date_by_low' };
    default:
      return undefined;
  }
}

/** What all resources have. */
const HEADS: Readonly<Partial<Record<SortKey['by'], Pick<SortIndex, 'column' | 'index'>>>> = {
  updated: { column: 'updated', index: 'resource_by_time' },
  id: { column: 'id', index: 'resource_by_id' },
};

/** Values that many share: each is read by itself, so that its resources come in the order of keys. */
const BLOCKED: Readonly<Partial<Record<SortKey['by'], SortIndex>>> = { uri, reference };

/**
 * Resources that fulfil a condition and have a value, in the order of it and then of keys: from a place on, if there is one
 * (`isWhole`: from the beginning of its value).
 *
 * @param key one that `hasIndex`
 * @param select further columns of a resource
 */
export function ranked(
  run: Run,
  key: SortKey,
  where: Condition,
  after: Hit | undefined,
  isWhole: boolean,
  select: SortColumns['select'],
): Iterable<Ranked> {
  const value = after?.values[0] ?? undefined;
  // It had no value: all that have one came before it.
  if (after !== undefined && value === undefined) return [];
  const start = after === undefined ? undefined : { value: value!, key: isWhole ? -1 : after.key };
  const head = HEADS[key.by];
  if (head !== undefined) return byHead(run, key, head, where, start, select);
  const param = run.dictionary.findParam(run.type, valuedBy(key)[0]!, 0);
  if (param === undefined) return [];
  const part = { run, where, more: select(KEY), param, isDescending: key.isDescending, met: run.met.isFirst(KEY) };
  if (key.by === 'token') return byToken(part, start);
  const index = streamed(key);
  return index === undefined ? byBlocks(part, BLOCKED[key.by]!, start) : byValue(part, index, start);
}

/** Whether there is an index that has the values of a key in their order. */
export function hasIndex(key: SortKey): boolean {
  // Values of several parameters are not in one order.
  if (valuedBy(key).length > 1) return false;
  return (HEADS[key.by] ?? BLOCKED[key.by] ?? streamed(key)) !== undefined || key.by === 'token';
}

interface Start {
  readonly value: SortValue;
  /** Those of the same value come with a key above this. */
  readonly key: number;
}

interface Part {
  readonly run: Run;
  readonly where: Condition;
  readonly more: Sql;
  readonly param: number;
  readonly isDescending: boolean;
  /** True of a resource that this walk meets for the first time. */
  readonly met: Sql;
}

interface RankedRow {
  readonly key: number;
  readonly value: string | number;
}

const KEY = raw('d.resource');

/** The row is of the parameter, and in the index. */
function ofIndex({ param }: Part, table: SortTable): Sql {
  return listedOf(TABLES[table], raw('d'), boundValues([param]));
}

/** So many values of a resource are each compared with all. */
const FEW = 8;

/**
 * Whether the resource of a row fulfils the condition, and the row is its best: for which none other may be `better`. Mostly
 * it is the only one. The rows come from the best to the worst, so of a resource that has many only the first is asked:
 * asking each would take the square of their number.
 */
function isBest({ run, where, met }: Part, table: string, better: Sql): Sql {
  const own = (row: string): Sql => sql`FROM ${raw(`${table} ${row}`)} INDEXED BY ${raw(`sqlite_autoindex_${table}_1`)}
    WHERE ${raw(`${row}.resource = d.resource AND ${row}.param = d.param`)} AND ${run.look(raw(row), 'param')}`;
  const isAlone = (others: number): Sql => sql`(SELECT 1 ${own('m')} LIMIT 1 OFFSET ${raw(String(others))}) IS NULL`;
  const asked = run.check(where, KEY);
  return sql`CASE WHEN ${isAlone(1)} THEN ${asked} WHEN (CASE WHEN ${isAlone(FEW)} THEN 1 ELSE ${met} END)
    THEN ${asked} AND NOT EXISTS (SELECT 1 ${own('o')} AND ${better}) ELSE 0 END`;
}

/** That the other row `o` has a lesser value, or a greater one. */
function isBetter({ isDescending }: Part, column: string): Sql {
  return raw(`o.${column} ${isDescending ? '>' : '<'} d.${column}`);
}

function* byValue(part: Part, { table, column, index }: SortIndex, start: Start | undefined): Generator<Ranked> {
  const { run, isDescending } = part;
  const value = raw(`d.${column}`);
  const direction = raw(isDescending ? 'DESC' : 'ASC');
  const best = isBest(part, table, isBetter(part, column));
  const select = (range: Sql): Sql => sql`SELECT d.resource AS key, ${value} AS value ${part.more} FROM ${raw(table)} d
    INDEXED BY ${raw(index)} WHERE ${ofIndex(part, table)} ${range} AND ${run.go(KEY)} AND ${best}
    ORDER BY ${value} ${direction}, d.resource`;
  const ranges =
    start === undefined
      ? [sql``]
      : [
          sql`AND ${value} = ${start.value[0]!} AND d.resource > ${start.key}`,
          sql`AND ${value} ${raw(isDescending ? '<' : '>')} ${start.value[0]!}`,
        ];
  for (const range of ranges) yield* once(run.rows<RankedRow>(select(range)));
}

/** A resource may have its best value twice. */
function* once(rows: Iterable<RankedRow>): Generator<Ranked> {
  let last: number | undefined;
  for (const row of rows) {
    if (row.key !== last) yield { key: row.key, value: [row.value], row };
    last = row.key;
  }
}

function* byHead(
  run: Run,
  { isDescending }: SortKey,
  { column, index }: Pick<SortIndex, 'column' | 'index'>,
  where: Condition,
  start: Start | undefined,
  more: SortColumns['select'],
): Generator<Ranked> {
  const key = raw('d.key');
  const value = raw(`d.${column}`);
  const select = (range: Sql): Sql => sql`SELECT d.key AS key, ${value} AS value ${more(key)} FROM resource d
    INDEXED BY ${raw(index)} WHERE d.type = ${run.type} AND d.deleted = 0 ${range} AND ${run.go(key)}
    AND ${run.check(where, key)} ORDER BY ${value} ${raw(isDescending ? 'DESC' : 'ASC')}, d.key`;
  const ranges =
    start === undefined
      ? [sql``]
      : [
          sql`AND ${value} = ${start.value[0]!} AND d.key > ${start.key}`,
          sql`AND ${value} ${raw(isDescending ? '<' : '>')} ${start.value[0]!}`,
        ];
  for (const range of ranges) yield* once(run.rows<RankedRow>(select(range)));
}

/** All values of a column, one after the other, from one on. */
function* distinct(part: Part, { table, column, index }: SortIndex, first?: string) {
  const { run, isDescending } = part;
  const value = raw(`d.${column}`);
  const direction = raw(isDescending ? 'DESC' : 'ASC');
  const next = (range: Sql): string | undefined => {
    const statement = sql`SELECT ${value} AS value FROM ${raw(table)} d INDEXED BY ${raw(index)}
      WHERE ${ofIndex(part, table)} ${range} AND ${run.go(value)} ORDER BY ${value} ${direction} LIMIT 1`;
    for (const row of run.rows<{ readonly value: string }>(statement)) return row.value;
    return undefined;
  };
  const beyond = (bound: string, sign: string): Sql => sql`AND ${value} ${raw(sign)} ${bound}`;
  let at = next(first === undefined ? sql`` : beyond(first, isDescending ? '<=' : '>='));
  while (at !== undefined) {
    yield at;
    at = next(beyond(at, isDescending ? '<' : '>'));
  }
}

function* byBlocks(part: Part, index: SortIndex, start: Start | undefined): Generator<Ranked> {
  const { run } = part;
  const { table, column } = index;
  const best = isBest(part, table, isBetter(part, column));
  for (const text of distinct(part, index, start === undefined ? undefined : String(start.value[0]))) {
    const least = text === start?.value[0] ? start.key : -1;
    const statement = sql`SELECT d.resource AS key ${part.more} FROM ${raw(table)} d INDEXED BY ${raw(index.index)}
      WHERE ${ofIndex(part, table)} AND ${raw(`d.${column}`)} = ${text} AND d.resource > ${least} AND ${run.go(KEY)}
      AND ${best} ORDER BY d.resource`;
    yield* keysOnce(run, statement, [text]);
  }
}

function* keysOnce(run: Run, statement: Sql, value: SortValue): Generator<Ranked> {
  let last: number | undefined;
  for (const row of run.rows<{ readonly key: number }>(statement)) {
    if (row.key !== last) yield { key: row.key, value, row };
    last = row.key;
  }
}

const TOKEN: SortIndex = { table: 'token', column: 'code', index: 'token_by_value' };

/** By code, then by the text of the system, which the index has as a number. */
function* byToken(part: Part, start: Start | undefined): Generator<Ranked> {
  const { run, param, isDescending } = part;
  const selectText = run.statements.prepare<{ readonly text: string }>('SELECT text FROM term WHERE id = ?');
  const sign = raw(isDescending ? '>' : '<');
  const text = (row: string): Sql => raw(`coalesce((SELECT text FROM term WHERE id = ${row}.system), '')`);
  const better = sql`(o.code ${sign} d.code OR o.code = d.code AND o.system <> d.system AND ${text('o')} ${sign} ${text('d')})`;
  const best = isBest(part, 'token', better);
  for (const code of distinct(part, TOKEN, start === undefined ? undefined : String(start.value[0]))) {
    const systems = systemsOf(run, param, code).map((system) => {
      return { system, value: [code, selectText.get(system)?.text ?? ''] };
    });
    systems.sort((a, b) => compareText(a.value[1]!, b.value[1]!) * (isDescending ? -1 : 1));
    for (const { system, value } of systems) {
      const order = start === undefined ? 1 : compareValues(value, start.value) * (isDescending ? -1 : 1);
      if (order < 0) continue;
      const least = order === 0 ? start!.key : -1;
      const statement = sql`SELECT d.resource AS key ${part.more} FROM token d INDEXED BY token_by_value
        WHERE ${ofIndex(part, 'token')} AND d.code = ${code} AND d.system = ${system} AND d.resource > ${least}
        AND ${run.go(KEY)} AND ${best} ORDER BY d.resource`;
      yield* keysOnce(run, statement, value);
    }
  }
}
