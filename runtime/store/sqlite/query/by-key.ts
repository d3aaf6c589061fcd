import type { Condition } from '../../../search/query/query.js';
import { rowsOf, type Arm, type Driver } from './compile/index-range.js';
import type { SearchRun } from './run.js';
import { join, raw, sql, type Sql } from './compile/sql.js';

/** All resources of the type that fulfil a condition, in the order of keys. @param after begins behind this one */
export function* walk(run: SearchRun, where: Condition, after: number | undefined): Generator<number> {
  for (const [key] of run.rows<readonly [number]>(selectOfType(run, where, after))) yield key;
}

/** Returns the statement that selects what `walk` returns. */
export function selectOfType(run: SearchRun, where: Condition, after?: number): Sql {
  const later = after === undefined ? sql`` : sql`AND r.key > ${after}`;
  const key = raw('r.key');
  return sql`SELECT r.key AS key FROM resource r INDEXED BY resource_by_type
    WHERE r.type = ${run.type} AND r.deleted = 0 ${later} AND ${run.go(key)} AND ${run.check(where, key)} ORDER BY r.key`;
}

/** The keys in a range of resources that fulfil a condition. */
function selectKey(run: SearchRun, arm: Arm, where: Condition): Sql {
  return sql`SELECT ${arm.key} AS key ${rowsOf(arm)} AND ${run.check(where, arm.key)}`;
}

/** What is put together in one statement, at most. */
const MOST = { pieces: 100, values: 10_000, length: 200_000 };

/** Pieces in lists that are small enough for a statement each. */
function inBatches(pieces: readonly Sql[]): readonly (readonly Sql[])[] {
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
export function driven(run: SearchRun, driver: Driver, where: Condition): readonly number[] {
  return run.column<number>(sql`SELECT DISTINCT key FROM (${selectDriven(run, driver, where)}) ORDER BY key`);
}

/** Returns the keys that `driven` finds as a part of another statement, where a key may occur several times. */
export function selectDriven(run: SearchRun, { arms }: Driver, where: Condition): Sql {
  const batches = inBatches(arms.map((arm) => selectKey(run, arm, where))).map((batch) => join(batch, ' UNION ALL '));
  const [first, ...others] = batches;
  if (first !== undefined && others.length === 0) return first;
  const keys = batches.flatMap((batch) => run.column<number>(batch));
  return sql`SELECT value AS key FROM json_each(${JSON.stringify(keys)})`;
}
