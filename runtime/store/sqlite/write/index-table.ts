import type { Database } from 'better-sqlite3';

import type { IndexTableName } from '../file/schema.js';

/** The columns of a row, in the order of `IndexTable`'s columns: `resource` first. */
export type IndexRow = readonly (number | string | Uint8Array)[];

/** Writes rows of one table. Inside a write transaction only. */
export interface IndexTable {
  /** Deletes all rows of a resource. */
  clear(resource: number): void;
  /** Begins with a resource. @param hasRows whether it may have rows already; those that are not put again go at the `end` */
  begin(resource: number, hasRows: boolean): void;
  /** A row of the resource. One that is there already is not written, and neither are its places in other indexes. */
  put(row: IndexRow): void;
  end(): void;
}

/** Prepares the statements of a table. */
export function openIndexTable(db: Database, name: IndexTableName): IndexTable {
  const all = db.pragma(`table_info(${name})`) as readonly { readonly name: string; readonly pk: number }[];
  const columns = all.map((column) => column.name);
  const key = all.filter(({ pk }) => pk > 0).map((column) => column.name);
  const keyLength = key.length;
  // An entry may give a row that is nothing but a key twice: one is kept.
  const orIgnore = keyLength === columns.length ? 'OR IGNORE' : '';
  const marks = columns.map(() => '?').join();
  const selectAll = db.prepare<[number], IndexRow>(`SELECT ${columns.join()} FROM ${name} WHERE resource = ?`).raw();
  const removeAll = db.prepare<[number]>(`DELETE FROM ${name} WHERE resource = ?`);
  const remove = db.prepare<unknown[]>(
    `DELETE FROM ${name} WHERE ${key.map((column) => `${column} = ?`).join(' AND ')}`,
  );
  const insert = db.prepare<unknown[]>(`INSERT ${orIgnore} INTO ${name} (${columns.join()}) VALUES (${marks})`);
  /** Rows from before that have not been put again, by their keys. */
  let before: Map<string, IndexRow> | undefined;

  const keyOf = (row: IndexRow): string => row.slice(0, keyLength).join(' ');

  return {
    clear: (resource) => void removeAll.run(resource),
    begin(resource, hasRows) {
      const rows = hasRows ? selectAll.all(resource) : [];
      before = rows.length === 0 ? undefined : new Map(rows.map((row) => [keyOf(row), row]));
    },
    put(row) {
      if (before !== undefined) {
        const own = keyOf(row);
        const old = before.get(own);
        before.delete(own);
        if (old !== undefined && isSame(old, row)) return;
        if (old !== undefined) remove.run(...row.slice(0, keyLength));
      }
      insert.run(...row);
    },
    end() {
      for (const row of before?.values() ?? []) remove.run(...row.slice(0, keyLength));
      before = undefined;
    },
  };
}

/** Bytes count as different: they are few. */
function isSame(one: IndexRow, other: IndexRow): boolean {
  for (let i = 0; i < one.length; i++) if (one[i] !== other[i]) return false;
  return true;
}
