import { isEverything, type Condition } from '../../../search/query/query.js';
import type { IndexRange, Driver } from './compile/index-range.js';
import { compareHits, type Hit } from './hit.js';
import type { Run } from './run.js';
import { sortColumns, sortReaders } from './sort-values.js';
import { join, raw, sql, type Sql } from './compile/sql.js';

interface KeyRow {
  readonly key: number;
  readonly id?: string;
}

/** A direction of ids, and where to begin. */
export interface Direction {
  readonly isDescending: boolean;
  readonly after: Hit | undefined;
}

/** All resources of the type that fulfil a condition, in the order of ids. */
export function* walk(run: Run, where: Condition, { isDescending, after }: Direction): Generator<Hit> {
  const later = after === undefined ? sql`` : sql`AND r.id ${raw(isDescending ? '<' : '>')} ${after.id ?? ''}`;
  const key = raw('r.key');
  const statement = sql`SELECT r.key, r.id FROM resource r INDEXED BY resource_by_id
    WHERE r.type = ${run.type} ${later} AND ${run.go(key)} AND r.deleted = 0
    AND ${run.check(where, key)} ORDER BY r.id ${raw(isDescending ? 'DESC' : 'ASC')}`;
  for (const row of run.rows<KeyRow>(statement)) yield { ...row, values: [] };
}

/** What is in ranges of keys in order, and fulfils a condition. */
export function* walkArms(
  run: Run,
  arms: readonly IndexRange[],
  where: Condition,
  { isDescending, after }: Direction,
): Generator<Hit> {
  if (arms.length === 0) return;
  const later = ({ key }: IndexRange): Sql =>
    after === undefined ? sql`` : sql`AND ${key} ${raw(isDescending ? '<' : '>')} ${after.key}`;
  const pieces = arms.map((arm) => sql`${selectKey(run, arm, where)} ${later(arm)}`);
  const statement = sql`${join(pieces, ' UNION ALL ')} ORDER BY 1 ${raw(isDescending ? 'DESC' : 'ASC')}`;
  let last: number | undefined;
  for (const { key } of run.rows<KeyRow>(statement)) {
    // A resource may have the value twice.
    if (key !== last) yield { key, values: [] };
    last = key;
  }
}

/**
 * The first keys in ranges of keys in order, read at once.
 *
 * @param most rows that are read; fewer rows: there are no more
 */
export function firstKeys(
  run: Run,
  arms: readonly IndexRange[],
  { isDescending, after }: Direction,
  most: number,
): { readonly hits: readonly Hit[]; readonly isAll: boolean } {
  if (arms.length === 0) return { hits: [], isAll: true };
  const later = ({ key }: IndexRange): Sql =>
    after === undefined ? sql`` : sql` AND ${key} ${raw(isDescending ? '<' : '>')} ${after.key}`;
  const pieces = arms.map((arm) => sql`SELECT ${arm.key} AS key ${arm.rows}${later(arm)}`);
  const direction = raw(isDescending ? 'DESC' : 'ASC');
  const rows = run.column<number>(sql`${join(pieces, ' UNION ALL ')} ORDER BY 1 ${direction} LIMIT ${most}`);
  const hits: Hit[] = [];
  // A resource may have the value twice.
  for (const [i, key] of rows.entries()) if (i === 0 || rows[i - 1] !== key) hits.push({ key, values: [] });
  return { hits, isAll: rows.length < most };
}

/** The keys in a range of resources that fulfil a condition. */
function selectKey(run: Run, { key, rows }: IndexRange, where: Condition): Sql {
  return sql`SELECT ${key} AS key ${rows} AND ${run.check(where, key)}`;
}

/** What is put together in one statement, at most. */
const MOST = { pieces: 100, values: 10_000, length: 200_000 };

/** Pieces in lists that are small enough for a statement each. */
export function inBatches(pieces: readonly Sql[]): readonly (readonly Sql[])[] {
  const batches: Sql[][] = [];
  let sum = { pieces: Infinity, values: 0, length: 0 };
  for (const piece of pieces) {
    sum = { pieces: sum.pieces + 1, values: sum.values + piece.values.length, length: sum.length + piece.text.length };
    if (sum.pieces > MOST.pieces || sum.values > MOST.values || sum.length > MOST.length) {
      batches.push([]);
      sum = { pieces: 1, values: piece.values.length, length: piece.text.length };
    }
    batches.at(-1)!.push(piece);
  }
  return batches;
}

/** The keys of all that a driver finds and that fulfil a condition besides: each once, in their order. */
export function driven(run: Run, { arms, keys: known }: Driver, where: Condition): readonly number[] {
  if (known !== undefined && isEverything(where)) return Array.from(new Float64Array(known).sort());
  const batches = inBatches(arms.map((arm) => selectKey(run, arm, where)));
  const found = batches.length === 1 ? keysOf(run, batches[0]!) : batches.flatMap((batch) => keysOf(run, batch));
  const keys = new Float64Array(found).sort();
  const distinct: number[] = [];
  let last: number | undefined;
  for (const key of keys) {
    if (key !== last) distinct.push(key);
    last = key;
  }
  return distinct;
}

/** The same as a part of another statement: a key may be there several times. Undefined: it takes several statements. */
export function selectDriven(run: Run, { arms }: Driver, where: Condition): Sql | undefined {
  const [batch, ...others] = inBatches(arms.map((arm) => selectKey(run, arm, where)));
  return batch === undefined || others.length > 0 ? undefined : join(batch, ' UNION ALL ');
}

function keysOf(run: Run, pieces: readonly Sql[]): number[] {
  return run.column<number>(join(pieces, ' UNION ALL '));
}

/** All that a driver finds, with what it is sorted by, in the order of the search; undefined: it is not so simple. */
export function drivenAndSorted(run: Run, { arms }: Driver, where: Condition): readonly Hit[] | undefined {
  const [only, ...others] = arms;
  if (only === undefined || others.length > 0 || !run.isOrdered || run.sort.length === 0) return undefined;
  const columns = sortColumns(run, only.key);
  if (columns === undefined) return undefined;
  const selected = join([only.key, ...columns], ', ');
  const rows = run.table<readonly (string | number | null)[]>(
    sql`SELECT ${selected} ${only.rows} AND ${run.check(where, only.key)} ORDER BY 1`,
  );
  const hits: Hit[] = [];
  let last: unknown;
  for (const [key, ...values] of rows) {
    if (key !== last)
      hits.push({ key: key as number, values: values.map((value) => (value === null ? null : [value])) });
    last = key;
  }
  return hits.sort(compareHits(run.sort));
}

/** Everything with these keys, in the order of the search. */
export function sorted(run: Run, keys: readonly number[]): readonly Hit[] {
  if (run.isOrdered && run.sort.length === 0) {
    const hits = keys.map((key) => ({ key, values: [] }));
    return run.isDescending ? hits.reverse() : hits;
  }
  const readers = sortReaders(run);
  const needsIds = !run.isOrdered || run.sort.some(({ by }) => by === 'id');
  const selectId = run.statements.prepare<{ readonly id: string }>('SELECT id FROM resource WHERE key = ?');
  const hits: Hit[] = [];
  for (const key of keys) {
    run.interrupt.step();
    if (needsIds) run.trace?.read(1);
    const id = needsIds ? selectId.get(key)!.id : undefined;
    hits.push({ key, ...(id !== undefined && { id }), values: readers.map((read) => read(key, id) ?? null) });
  }
  const order = compareHits(run.sort);
  return hits.sort(run.isDescending ? (a, b) => order(b, a) : order);
}
