import Database from 'better-sqlite3';
import { spawnSync } from 'node:child_process';
import { existsSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';

import type { IndexEntry } from '../../../../runtime/indexing/entry.js';
import { backUp } from '../../../../runtime/store/sqlite/file/backup.js';
import { connect } from '../../../../runtime/store/sqlite/file/connect.js';
import { locate } from '../../../../runtime/store/sqlite/file/location.js';
import { migrate } from '../../../../runtime/store/sqlite/file/migrate.js';
import {
  APPLICATION_ID,
  FIRST_VERSION,
  INDEX_TABLES,
  SCHEMA_STEPS,
} from '../../../../runtime/store/sqlite/file/schema.js';
import { translateSqliteError } from '../../../../runtime/store/sqlite/file/sqlite-errors.js';
import { openSqliteStore } from '../../../../runtime/store/sqlite/sqlite-store.js';
import type { Put } from '../../../../runtime/store/store.js';
import { put as change } from '../../../contract/subject.js';

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

/** So many that their list has pages of its own. */
function manyTables(db: Database.Database): void {
  for (let i = 0; i < 200; i++) db.exec(`CREATE TABLE theirs_${i} (a_column_with_a_name)`);
}

const CURRENT = FIRST_VERSION + SCHEMA_STEPS.length;

describe('the schema of a file', () => {
  it('loses nothing that was committed: write-ahead log, synced', () => {
    const db = connect(file);
    expect(db.pragma('journal_mode', { simple: true })).toBe('wal');
    expect(db.pragma('synchronous', { simple: true })).toBe(2);
    db.close();
  });

  it('has pages of 2 kB, or those that it was made with; a backup has pages of 2 kB', async () => {
    const pageSize = (): unknown => withFile((db) => db.pragma('page_size', { simple: true }));
    connect(file).close();
    expect(pageSize()).toBe(2048);
    rmSync(file);
    withFile((db) => void db.exec('PRAGMA page_size = 4096; PRAGMA journal_mode = WAL'));
    const store = openSqliteStore(`sqlite:${file}`);
    await store.write([change('a', 0)]);
    await backUp(file, `${file}.copy`);
    await store.close();
    expect(pageSize()).toBe(4096);
    file += '.copy';
    expect(pageSize()).toBe(2048);
    const copy = openSqliteStore(`sqlite:${file}`);
    expect(await copy.read('Patient', 'a')).toMatchObject({ version: 1 });
    await copy.close();
  });

  it('is refused when it is newer', () => {
    connect(file).close();
    withFile((db) => db.pragma(`user_version = ${CURRENT + 1}`));
    expect(() => connect(file)).toThrow(/kiln\.db was written by a newer Kiln/);
  });

  it('is refused when the file is of another program', () => {
    withFile((db) => db.exec('CREATE TABLE theirs (x)'));
    expect(() => connect(file)).toThrow(/another program/);
    expect(withFile((db) => db.prepare('SELECT name FROM sqlite_schema').pluck().all())).toEqual(['theirs']);
  });

  const refused = (): void => {
    const content = readFileSync(file);
    const files = readdirSync(folder);
    expect(() => connect(file)).toThrow(/another program|newer Kiln|before 0\.1\.0/);
    expect(readdirSync(folder)).toEqual(files);
    expect(readFileSync(file).equals(content)).toBe(true);
  };

  it.each<[string, (db: Database.Database) => unknown]>([
    ['of another program', (db) => db.exec('CREATE TABLE theirs (x)')],
    ['of another program, with many tables', manyTables],
    ['of another program, and marked so', (db) => db.pragma('application_id = 7')],
    ['of another program, which counts versions too', (db) => db.pragma('user_version = 1')],
    ['older', (db) => db.exec(`PRAGMA application_id = ${APPLICATION_ID}; PRAGMA user_version = ${FIRST_VERSION - 1}`)],
    ['newer', (db) => db.exec(`PRAGMA application_id = ${APPLICATION_ID}; PRAGMA user_version = 99`)],
  ])('one that is %s was changed before it was refused', (_name, make) => {
    withFile(make);
    refused();
  });

  it('one whose log a killed program left was written back before it was refused', () => {
    connect(file).close();
    const program = `
      const db = new (require('better-sqlite3'))(${JSON.stringify(file)});
      db.pragma('user_version = ${CURRENT + 1}');
      db.pragma('wal_checkpoint');
      db.exec('CREATE TABLE more (x)');
      process.kill(process.pid, 'SIGKILL');`;
    spawnSync(process.execPath, ['-e', program], { cwd: import.meta.dirname });
    expect(readdirSync(folder)).toContain('kiln.db-wal');
    refused();
  });

  it('an empty SQLite file is taken, whatever its mode', () => {
    withFile((db) => db.pragma('journal_mode = WAL'));
    connect(file).close();
    expect(withFile((db) => db.pragma('user_version', { simple: true }))).toBe(CURRENT);
  });

  it('is refused when the file is no database, or cannot be one', () => {
    writeFileSync(file, 'This is a text, long enough to be taken for the header of a database.'.repeat(20));
    expect(() => connect(file)).toThrow(/kiln\.db: file is not a database/);
    expect(() => connect(folder)).toThrow(`${folder}: unable to open database file`);
  });

  it('is migrated when it is older, data and all, in one transaction', async () => {
    const store = openSqliteStore(`sqlite:${file}`);
    await store.write([
      {
        type: 'Patient',
        id: 'a',
        expected: 0,
        body: { head: '{"meta":{', tail: '}}' },
        content: { resourceType: 'Patient' },
        entries: [],
      },
    ]);
    await store.close();
    const steps = [...SCHEMA_STEPS, 'ALTER TABLE resource ADD COLUMN extra TEXT'];
    withFile((db) => {
      expect(() => migrate(db, [...steps, 'NONSENSE'])).toThrow();
      expect(db.pragma('user_version', { simple: true })).toBe(CURRENT);
      migrate(db, steps);
      expect(db.pragma('user_version', { simple: true })).toBe(FIRST_VERSION + steps.length);
      expect(db.prepare('SELECT id, extra FROM resource').all()).toEqual([{ id: 'a', extra: null }]);
    });
  });
});

describe('where a file is', () => {
  it('a folder that cannot be made hung for ever, or is told', () => {
    expect(() => locate('sqlite:/proc/kiln-there-is-none/a/k.db')).toThrow('/proc/kiln-there-is-none cannot be made');
    writeFileSync(file, '');
    expect(() => locate(`sqlite:${file}/a/k.db`)).toThrow(`${file}/a cannot be made (ENOTDIR)`);
  });

  it.each([' kiln.db', 'kiln.db ', 'kiln.db\n', '\u00a0', 'a\0b', 'kiln.db-wal', 'kiln.db-SHM', 'kiln.db-journal'])(
    '%j was taken for another file: it is refused',
    (name) => {
      expect(() => openSqliteStore(`sqlite:${name.startsWith(' ') ? name : join(folder, name)}`)).toThrow(
        /the store ".*may not/,
      );
      expect(readdirSync(folder)).toEqual([]);
    },
  );

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

describe('a file that others touch while it is in use', () => {
  const other = (script: string): string => {
    const code = `const db = new (require('better-sqlite3'))(${JSON.stringify(file)}); ${script}; db.close()`;
    const { stdout, stderr, status } = spawnSync(process.execPath, ['-e', code], { encoding: 'utf8' });
    expect([stderr, status]).toEqual(['', 0]);
    return stdout.trim();
  };
  const lost = { code: 'store-unavailable', status: 503 };

  it('lost its lock when a thread opened it, so that others took it for one that nobody has open', async () => {
    const store = openSqliteStore(`sqlite:${file}`);
    const beside = openSqliteStore(`sqlite:${file}`);
    await store.write([change('a', 0)]);
    await store.history({ count: 1 });
    await beside.close();
    const lock = `db.pragma('busy_timeout = 0'); db.pragma('locking_mode = EXCLUSIVE');
      try { db.exec('BEGIN EXCLUSIVE'); console.log('nobody has it') } catch (error) { console.log(error.code) }`;
    expect(other(lock)).toBe('SQLITE_BUSY');
    await store.close();
    expect(other(lock)).toBe('nobody has it');
  });

  it.each(['deleted', 'replaced', 'without its log'])(
    'that was %s: writes were acknowledged and lost, and the store said that it was well',
    async (how) => {
      const store = openSqliteStore(`sqlite:${file}`);
      await store.write([change('a', 0)]);
      expect(await store.check()).toEqual({ ok: true });
      if (how === 'without its log') rmSync(`${file}-wal`);
      else rmSync(file);
      if (how === 'replaced') await openSqliteStore(`sqlite:${file}`).close();
      await expect(store.write([change('b', 0)])).rejects.toMatchObject(lost);
      await expect(store.maps.swap('m', 'k', undefined, 'v')).rejects.toMatchObject(lost);
      expect(await store.check()).toEqual({
        ok: false,
        detail: expect.stringContaining('deleted or replaced') as string,
      });
      expect(existsSync(file)).toBe(how !== 'deleted');
      await store.close();
      expect(existsSync(file)).toBe(how !== 'deleted');
    },
  );

  it('that was deleted before a thread opened it came back empty', async () => {
    const store = openSqliteStore(`sqlite:${file}`);
    rmSync(file);
    await expect(store.history({ count: 1 })).rejects.toMatchObject(lost);
    await expect(store.write([change('b', 0)])).rejects.toMatchObject(lost);
    expect(existsSync(file)).toBe(false);
    await store.close();
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
    const content = { resourceType: 'Patient' };
    return { type: 'Patient', id, expected, body: { head: '{"meta":{', tail: '}}' }, content, entries };
  };
  const countAll = () =>
    withFile((db) =>
      Object.fromEntries(
        INDEX_TABLES.map((name) => [name, db.prepare(`SELECT count(*) FROM ${name}`).pluck().get()] as const).filter(
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
      { kind: 'position', param: 'p', latitude: 1, longitude: 2 },
      { kind: 'region', param: 'g', south: 0, west: 0, north: 1, east: 1, lines: [0, 0, 1, 1] },
      { kind: 'words', param: 'w', text: '\n head pain ' },
      { kind: 'words', param: '_content', text: '\n head pain \n left ' },
    ];
    await store.write([put(0, all), put(0, [name], 'b')]);
    const full = {
      token: 1,
      token_of_type: 1,
      string: 2,
      date: 1,
      number: 2,
      reference: 1,
      uri: 1,
      position: 1,
      region: 1,
      beginning: 1,
    };
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
    ['token', 'param = 1 AND code = ? AND system = 1 AND part_group >= 0'],
    ['string', "param = 1 AND folded >= ? AND folded < 'b'"],
    ['date', 'param = 1 AND low >= ?'],
    ['date', 'param = 1 AND high < ?'],
    ['number', 'param = 1 AND low >= ? AND part_group >= 0'],
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
