import type { Database } from 'better-sqlite3';

/**
 * By which definitions the index entries of a file were made. A search row (`Patient.name`) whose hash is another now,
 * and every date where the zone is, needs a reindex.
 */
export interface IndexVersion {
  readonly zone: string | undefined;
  /** Hash of each search row. */
  readonly hashes: ReadonlyMap<string, string>;
}

/** What the file has. */
export function readIndexVersion(db: Database): IndexVersion {
  const zone = db.prepare<[], string>("SELECT value FROM setting WHERE name = 'zone'").pluck().get();
  const rows = db.prepare<[], { row: string; hash: string }>('SELECT row, hash FROM index_version').all();
  return { zone, hashes: new Map(rows.map(({ row, hash }) => [row, hash])) };
}

/** Records rows, others left alone, and the zone where it is given. Inside a write transaction. */
export function writeIndexVersion(db: Database, { zone, hashes }: IndexVersion): void {
  const upsert = db.prepare<[string, string]>('INSERT OR REPLACE INTO index_version (row, hash) VALUES (?, ?)');
  for (const [row, hash] of hashes) upsert.run(row, hash);
  if (zone !== undefined)
    db.prepare<[string]>("INSERT OR REPLACE INTO setting (name, value) VALUES ('zone', ?)").run(zone);
}
