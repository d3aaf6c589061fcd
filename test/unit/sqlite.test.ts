import Database from 'better-sqlite3';
import { existsSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';

import type { IndexEntry } from '../../runtime/search/entry.js';
import { connect } from '../../runtime/store/sqlite/connect.js';
import { locate } from '../../runtime/store/sqlite/location.js';
import { migrate } from '../../runtime/store/sqlite/migrate.js';
import { INDEX_TABLES, SCHEMA_STEPS } from '../../runtime/store/sqlite/schema.js';
import { translateSqliteError } from '../../runtime/store/sqlite/sqlite-errors.js';
import { openSqliteStore } from '../../runtime/store/sqlite/sqlite-store.js';
import type { Put } from '../../runtime/store/store.js';

let folder: string;
let file: string;
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'kiln-sqlite-'));
  file = join(folder, 'kiln.db');
});
afterEach(() => rmSync(folder, { recursive: true }));

function withFile<T>(action: (db: Database.Database) => T): T {
  const db = new Database(file);
  try {
    return action(db);
  } finally {
    db.close();
  }
}

describe('the schema of a file', () => {
  it('loses nothing that was committed: write-ahead log, synced', () => {
    const db = connect(file);
    expect(db.pragma('journal_mode', { simple: true })).toBe('wal');
    expect(db.pragma('synchronous', { simple: true })).toBe(2);
    db.close();
  });

  it('is refused when it is newer', () => {
    connect(file).close();
    withFile((db) => db.pragma(`user_version = ${SCHEMA_STEPS.length + 1}`));
    expect(() => connect(file)).toThrow(/kiln\.db was written by a newer Kiln/);
  });

  it('is refused when the file is of another program', () => {
    withFile((db) => db.exec('CREATE TABLE theirs (x)'));
    expect(() => connect(file)).toThrow(/another program/);
    expect(withFile((db) => db.prepare('SELECT name FROM sqlite_schema').pluck().all())).toEqual(['theirs']);
  });

  it('is refused when the file is no database, or cannot be one', () => {
    writeFileSync(file, 'This is a text, long enough to be taken for the header of a database.'.repeat(20));
    expect(() => connect(file)).toThrow(/kiln\.db: file is not a database/);
    expect(() => connect(folder)).toThrow(`${folder}: unable to open database file`);
  });

  it('is migrated when it is older, data and all, in one transaction', async () => {
    const store = openSqliteStore(`sqlite:${file}`);
    await store.write([
      { type: 'Patient', id: 'a', expected: 0, body: { head: '{"meta":{', tail: '}}' }, entries: [] },
    ]);
    await store.close();
    const steps = [...SCHEMA_STEPS, 'ALTER TABLE resource ADD COLUMN extra TEXT'];
    withFile((db) => {
      expect(() => migrate(db, [...steps, 'NONSENSE'])).toThrow();
      expect(db.pragma('user_version', { simple: true })).toBe(SCHEMA_STEPS.length);
      migrate(db, steps);
      expect(db.pragma('user_version', { simple: true })).toBe(steps.length);
      expect(db.prepare('SELECT id, extra FROM resource').all()).toEqual([{ id: 'a', extra: null }]);
    });
  });
});

describe('where a file is', () => {
  it('makes the folder', async () => {
    const store = openSqliteStore(`sqlite:${join(folder, 'a', 'b', 'kiln.db')}`);
    await store.close();
    expect(existsSync(join(folder, 'a', 'b', 'kiln.db'))).toBe(true);
  });

  it('sqlite::memory: is private, and gone afterwards', async () => {
    const [one, two] = [locate('sqlite::memory:'), locate('sqlite::memory:')];
    expect(one.file).not.toBe(two.file);
    one.dispose();
    two.dispose();
    expect(existsSync(join(one.file, '..'))).toBe(false);
  });
});

describe('failures of SQLite (rescode.html)', () => {
  it.each([
    ['SQLITE_BUSY', 'store-busy'],
    ['SQLITE_BUSY_SNAPSHOT', 'store-busy'],
    ['SQLITE_FULL', 'store-unavailable'],
    ['SQLITE_IOERR_WRITE', 'store-unavailable'],
    ['SQLITE_READONLY', 'store-unavailable'],
  ])('%s is told as %s', (sqlite, code) => {
    expect(translateSqliteError(new Database.SqliteError('secret path', sqlite))).toMatchObject({ code, status: 503 });
  });

  it('others are defects, and pass unchanged', () => {
    const error = new Database.SqliteError('x', 'SQLITE_CONSTRAINT');
    expect(translateSqliteError(error)).toBe(error);
  });
});

describe('index entries', () => {
  const put = (expected: number, entries: IndexEntry[], id = 'a'): Put => {
    return { type: 'Patient', id, expected, body: { head: '{"meta":{', tail: '}}' }, entries };
  };
  const countAll = () =>
    withFile((db) =>
      Object.fromEntries(
        INDEX_TABLES.map((table) => [table, db.prepare(`SELECT count(*) FROM ${table}`).pluck().get()] as const).filter(
          ([, count]) => count !== 0,
        ),
      ),
    );

  it('are replaced on update and removed on delete, those of others left alone', async () => {
    const store = openSqliteStore(`sqlite:${file}`);
    const name: IndexEntry = { kind: 'string', param: 'name', text: 'A', folded: 'a' };
    const all: IndexEntry[] = [
      name,
      { kind: 'token', param: 'identifier', code: '1', ofType: [{ code: 'MR' }] },
      { kind: 'date', param: 'birthdate', low: 0, high: 1 },
      { kind: 'number', param: 'n', value: 1 },
      { kind: 'quantity', param: 'q', value: 1 },
      { kind: 'reference', param: 'r', type: 'Patient', id: 'b' },
      { kind: 'uri', param: 'u', value: 'urn:x' },
    ];
    await store.write([put(0, all), put(0, [name], 'b')]);
    const full = { token: 1, token_of_type: 1, string: 2, date: 1, number: 2, reference: 1, uri: 1 };
    expect(countAll()).toEqual(full);
    await store.write([put(1, [{ kind: 'uri', param: 'u', value: 'urn:y' }])]);
    expect(countAll()).toEqual({ string: 1, uri: 1 });
    await store.write([put(2, all)]);
    expect(countAll()).toEqual(full);
    await store.write([{ type: 'Patient', id: 'a', expected: 3 }]);
    expect(countAll()).toEqual({ string: 1 });
    await store.close();
  });

  it('parts of one composite value share a group, and have parameters of their own', async () => {
    const store = openSqliteStore(`sqlite:${file}`);
    const value = (code: string, number: number): IndexEntry => ({
      kind: 'composite',
      param: 'code-value',
      parts: [
        [{ kind: 'token', param: 'code', code }],
        [{ kind: 'quantity', param: 'value', value: number, low: number }],
      ],
    });
    await store.write([put(0, [value('x', 1), value('y', 2)])]);
    await store.close();
    const pairs = withFile((db) =>
      db
        .prepare(
          `SELECT t.code, n.value, n.low, n.high, pt.code AS param, pt.part AS first, pn.part AS second
           FROM token t JOIN number n ON n.resource = t.resource AND n.part_group = t.part_group
           JOIN param pt ON pt.id = t.param JOIN param pn ON pn.id = n.param ORDER BY t.code`,
        )
        .all(),
    );
    const common = { high: Infinity, param: 'code-value', first: 1, second: 2 };
    expect(pairs).toEqual([
      { code: 'x', value: 1, low: 1, ...common },
      { code: 'y', value: 2, low: 2, ...common },
    ]);
  });

  it.each([
    ['token', 'param = 1 AND code = ? AND system = 1'],
    ['string', "param = 1 AND folded >= ? AND folded < 'b'"],
    ['date', 'param = 1 AND low >= ?'],
    ['date', 'param = 1 AND high < ?'],
    ['number', 'param = 1 AND low >= ?'],
    ['reference', "target_id = ? AND target_id <> '' AND target_type = 1 AND param = 1"],
    ['reference', "target_id = ? AND target_id <> ''"],
    ['reference', "url = ? AND url <> '' AND param = 1"],
    ['uri', 'param = 1 AND value = ?'],
  ])('%s: WHERE %s needs no scan, nor the table itself', (table, where) => {
    const db = connect(file);
    const plan = db.prepare(`EXPLAIN QUERY PLAN SELECT resource FROM ${table} WHERE ${where}`).all('x') as {
      detail: string;
    }[];
    db.close();
    expect(plan.map(({ detail }) => detail)).toEqual([expect.stringMatching(/^SEARCH .* USING COVERING INDEX /)]);
  });
});
