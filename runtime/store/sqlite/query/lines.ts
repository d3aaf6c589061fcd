import type { Database } from 'better-sqlite3';

import type { LinePage } from '../../store.js';
import type { QueryInterrupt } from '../file/query-interrupt.js';
import { MAX_PAGE } from '../read/history.js';
import type { Hit } from './hit.js';

const NEWLINE = 10;

/** Lines, and the last hit that is among them, where there are more after it. */
export interface ReadLines extends Omit<LinePage, 'next'> {
  readonly last?: Hit;
}

/** The texts of what was found: as many as are asked for, fewer where they are large. */
export type LineReader = (found: readonly Hit[], count: number, until: number) => ReadLines;

/** Resources by their keys, with their current versions. */
const BY_KEYS = `json_each(?) k CROSS JOIN resource r NOT INDEXED CROSS JOIN version v ON v.seq = r.seq
  WHERE r.key = k.value AND r.updated <= ?`;

/**
 * Reads texts as bytes, which SQLite joins: it has them in UTF-8. As strings each would be decoded, cloned for the other thread and
 * encoded again, which takes longer than all the rest of an export.
 */
export function openLineReader(db: Database, interrupt: QueryInterrupt): LineReader {
  // The sizes are in the heads of the rows: no text is read for them.
  const measure = db.prepare<[string, number], { readonly count: number; readonly size: number }>(
    `SELECT count(*) AS count, total(octet_length(v.body)) AS size FROM ${BY_KEYS}`,
  );
  const join = (text: string) =>
    db
      .prepare<[string, number], Buffer | null>(
        `SELECT CAST(group_concat(${text}, char(10)) || char(10) AS BLOB) FROM ${BY_KEYS}`,
      )
      .pluck();
  const joined = join('v.body');
  // Where a text spans lines, its newlines are between tokens: a string of JSON holds none.
  const joinedAsLines = join("replace(replace(v.body, char(10), ' '), char(13), ' ')");

  return (found, count, until) => {
    let keys = found.slice(0, count).map(({ key }) => key);
    let list = JSON.stringify(keys);
    let all = measure.get(list, until)!;
    while (all.size > MAX_PAGE && keys.length > 1) {
      keys = keys.slice(0, keys.length >> 1);
      list = JSON.stringify(keys);
      all = measure.get(list, until)!;
    }
    interrupt.step();
    let lines = joined.get(list, until) ?? Buffer.alloc(0);
    if (countLines(lines) > all.count) lines = joinedAsLines.get(list, until)!;
    const last = found[keys.length - 1];
    if (last === undefined || keys.length === found.length) return { lines, count: all.count };
    return { lines, count: all.count, last };
  };
}

function countLines(bytes: Uint8Array): number {
  let count = 0;
  for (let at = bytes.indexOf(NEWLINE); at >= 0; at = bytes.indexOf(NEWLINE, at + 1)) count++;
  return count;
}
