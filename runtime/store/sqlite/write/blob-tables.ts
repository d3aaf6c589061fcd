import type { Database } from 'better-sqlite3';

import type { ListedBlob } from '../../store.js';

/** Pieces that one clean-up step removes. */
const AT_ONCE = 32;

/** A whole blob. */
export interface BlobRow {
  readonly id: number;
  readonly size: number;
}

/** Reads of blobs. */
export interface BlobReader {
  find(key: string): BlobRow | undefined;
  list(prefix: string): ListedBlob[];
  /** One piece; undefined: it was removed meanwhile. */
  piece(blob: number, n: number): Uint8Array | undefined;
}

/** Changes of blobs. Inside a write transaction. */
export interface BlobWriter {
  /** Begins an upload, which is not visible yet. @returns its number */
  begin(now: number): number;
  piece(blob: number, n: number, bytes: Uint8Array, now: number): void;
  /** Makes an upload visible under its key, in place of what was there. @throws Error where it was cleaned away */
  finish(blob: number, key: string, size: number, sha256: string, now?: number): void;
  delete(key: string, now: number): void;
  /** Gives up an upload. */
  drop(blob: number): void;
  /** Removes some pieces that are not wanted since `before`. @returns whether there may be more */
  clean(before: number): boolean;
}

/** Prepares the reads. */
export function openBlobReader(db: Database): BlobReader {
  const find = db.prepare<[string], BlobRow>('SELECT id, size FROM blob WHERE key = ?');
  const list = db.prepare<[string, string], ListedBlob>(
    'SELECT key, put, size, sha256 FROM blob WHERE key >= ? AND key < ? ORDER BY key',
  );
  const piece = db
    .prepare<[number, number], Uint8Array>('SELECT bytes FROM blob_piece WHERE blob = ? AND n = ?')
    .pluck();
  return {
    find: (key) => find.get(key),
    list: (prefix) => list.all(prefix, `${prefix}\u{10ffff}`),
    piece: (blob, n) => piece.get(blob, n),
  };
}

/** Prepares the changes. */
export function openBlobWriter(db: Database): BlobWriter {
  const begin = db.prepare<[number]>("INSERT INTO blob (size, sha256, put, touched) VALUES (0, '', 0, ?)");
  const piece = db.prepare<[number, number, Uint8Array]>('INSERT INTO blob_piece (blob, n, bytes) VALUES (?, ?, ?)');
  const touch = db.prepare<[number, number]>('UPDATE blob SET touched = ? WHERE id = ? AND key IS NULL');
  const unname = db.prepare<[number, string]>('UPDATE blob SET key = NULL, touched = ? WHERE key = ?');
  const name = db.prepare<[string, number, string, number, number]>(
    'UPDATE blob SET key = ?, size = ?, sha256 = ?, put = ? WHERE id = ? AND key IS NULL',
  );
  const unwanted = db
    .prepare<[number], number>(
      'SELECT id FROM blob INDEXED BY blob_without_key WHERE key IS NULL AND touched < ? ORDER BY touched LIMIT 1',
    )
    .pluck();
  const removePieces = db.prepare<[number]>(
    `DELETE FROM blob_piece WHERE rowid IN (SELECT rowid FROM blob_piece WHERE blob = ? LIMIT ${AT_ONCE})`,
  );
  const remove = db.prepare<[number]>('DELETE FROM blob WHERE id = ?');
  const cleanedAway = (): Error => new Error('an upload stood still for so long that it was cleaned away');
  return {
    begin: (now) => Number(begin.run(now).lastInsertRowid),
    piece(blob, n, bytes, now) {
      if (touch.run(now, blob).changes === 0) throw cleanedAway();
      piece.run(blob, n, bytes);
    },
    finish(blob, key, size, sha256, now = Date.now()) {
      unname.run(now, key);
      if (name.run(key, size, sha256, now, blob).changes === 0) throw cleanedAway();
    },
    delete: (key, now) => void unname.run(now, key),
    drop: (blob) => void touch.run(0, blob),
    clean(before) {
      const blob = unwanted.get(before);
      if (blob === undefined) return false;
      if (removePieces.run(blob).changes < AT_ONCE) remove.run(blob);
      return true;
    },
  };
}
