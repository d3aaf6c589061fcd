import { createHash } from 'node:crypto';

import type { SearchRow, SearchTable } from '../contract/search.js';

/**
 * To be raised with every change of the code that makes other index entries of the same rows: a correction of a
 * converter, of folding, of units.
 */
export const EXTRACTION = 2;

/** By what the index entries of a store were made. */
export interface IndexRecord {
  /** One hash of everything, to see quickly that nothing has changed. */
  readonly whole: string;
  /** A hash for each search row: `Patient.name`, `Resource._id`. */
  readonly rows: Readonly<Record<string, string>>;
}

/** What says by which rows, read in which zone, entries are made now; the rows one by one only when asked for. */
export interface IndexMaker {
  readonly whole: string;
  record(): IndexRecord;
}

/**
 * @param zone zone of dates without an offset, which their entries depend on
 */
export function describeIndex(tables: readonly SearchTable[], zone: string): IndexMaker {
  const whole = hash([EXTRACTION, zone, tables.map((table) => [table.type, table.parameters.map(essence)])]);
  return {
    whole,
    record: () => ({
      whole,
      rows: Object.fromEntries(
        tables.flatMap(({ type, parameters }) =>
          parameters.map((row) => [
            `${type}.${row.code}`,
            hash([EXTRACTION, row.type === 'date' && zone, essence(row)]),
          ]),
        ),
      ),
    }),
  };
}

/**
 * Names of the search rows whose entries may be missing or wrong: made by another row, or by none yet.
 *
 * @param made by what they were made; absent: nobody knows
 */
export function notCurrent(made: IndexRecord | undefined, maker: IndexMaker): string[] {
  if (made?.whole === maker.whole) return [];
  return Object.entries(maker.record().rows)
    .filter(([name, is]) => made?.rows[name] !== is)
    .map(([name]) => name);
}

/** What of a row decides on the entries. */
function essence({ type, code, paths, components, slot }: SearchRow): unknown {
  return [type, code, paths, components, slot];
}

function hash(value: unknown): string {
  return createHash('sha256').update(JSON.stringify(value)).digest('base64url').slice(0, 16);
}
