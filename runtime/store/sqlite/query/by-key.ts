import type { Condition } from '../../../search/query/query.js';
import { rowsOf, type Arm, type Driver } from './compile/index-range.js';
import { compareHits, type Hit } from './hit.js';
import type { Run } from './run.js';
import { sortReaders } from './sort-values.js';
import { join, raw, sql, type Sql } from './compile/sql.js';

/** All resources of the type that fulfil a condition, in the order of keys. @param after begins behind this one */
export function* walk(run: Run, where: Condition, after: number | undefined): Generator<number> {
  const later = after === undefined ? sql`` : sql`AND r.key > ${after}`;
  const key = raw('r.key');
  const statement = sql`SELECT r.key FROM resource r INDEXED BY resource_by_type
    WHERE r.type = ${run.type} AND r.deleted = 0 ${later} AND ${run.go(key)} AND ${run.check(where, key)} ORDER BY r.key`;
  for (const row of run.rows<{ readonly key: number }>(statement)) yield row.key;
}

/** The keys in a range of resources that fulfil a condition. */
function selectKey(run: Run, arm: Arm, where: Condition): Sql {
  return sql`SELECT ${arm.key} AS key ${rowsOf(arm)} AND ${run.check(where, arm.key)}`;
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
export function driven(run: Run, { arms }: Driver, where: Condition): readonly number[] {
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

/** Everything with these keys, in the order of the search. */
export function sorted(run: Run, keys: readonly number[]): readonly Hit[] {
  const readers = sortReaders(run);
  const hits: Hit[] = [];
  for (const key of keys) {
    run.interrupt.step();
    hits.push({ key, values: readers.map((read) => read(key) ?? null) });
  }
  return hits.sort(compareHits(run.sort));
}
