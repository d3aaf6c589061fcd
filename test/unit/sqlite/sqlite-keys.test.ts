import Database from 'better-sqlite3';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';

import { connect } from '../../../runtime/store/sqlite/file/connect.js';
import { openKeyGiver } from '../../../runtime/store/sqlite/write/resource-keys.js';
import { APPLICATION_ID, SCHEMA_STEPS } from '../../../runtime/store/sqlite/file/schema.js';

describe('keys of resources', () => {
  let folder: string;
  let db: Database.Database;
  beforeEach(() => {
    folder = mkdtempSync(join(tmpdir(), 'kiln-keys-'));
    db = connect(join(folder, 'kiln.db'), { isTemporary: true });
  });
  afterEach(() => {
    db.close();
    rmSync(folder, { recursive: true });
  });

  function create(type: number, id: string, key: number): number {
    db.prepare('INSERT INTO resource VALUES (?, ?, ?, 1, 1, 1, 0)').run(key, type, id);
    return key;
  }

  it('have the order in which resources are written, over all types', () => {
    const giveKey = openKeyGiver(db);
    const keys = ['m', 'b', 'z', 'a'].flatMap((id) => [1, 2].map((type) => create(type, id, giveKey())));
    expect(keys).toEqual([1, 2, 3, 4, 5, 6, 7, 8]);
  });

  it('are below those that had the order of ids', () => {
    create(1, 'a', 2 ** 51 + 7);
    create(1, 'b', Number.MAX_SAFE_INTEGER);
    const giveKey = openKeyGiver(db);
    expect([create(1, 'c', giveKey()), create(1, 'd', giveKey())]).toEqual([1, 2]);
  });

  it('of a file from before are given anew, in all tables', () => {
    const file = join(folder, 'old.db');
    const old = new Database(file);
    old.exec(`${SCHEMA_STEPS.slice(0, 2).join('')}; PRAGMA application_id = ${APPLICATION_ID}; PRAGMA user_version = 2;
      INSERT INTO term VALUES (1, 'Patient'), (2, 'Group'), (3, 'http://x'), (4, 'urn:s');
      INSERT INTO resource VALUES (1, 1, 'b', 5, 2, 9, 0), (2, 1, 'a', 2, 1, 1, 0), (3, 2, 'a', 3, 1, 1, 0), (4, 1, 'c', 4, 1, 1, 1);
      INSERT INTO version VALUES (1, 1, 1, 1, 1, '1'), (2, 1, 2, 1, 1, '2'), (3, 2, 3, 1, 1, '3'), (4, 1, 4, 1, 1, NULL), (5, 1, 1, 2, 9, '5');
      INSERT INTO token VALUES (1, 1, 0, 0, 0, 'b'), (2, 1, 0, 0, 0, 'a');
      INSERT INTO reference VALUES (1, 2, 0, 0, 2, '7', '', 0, '', '', 0, ''), (2, 2, 0, 0, 2, '7', '', 3, '', '', 0, ''),
        (3, 2, 0, 0, 0, '', '', 0, 'urn:u', '', 0, ''), (4, 2, 0, 0, 0, '', '', 0, '', '', 4, 'mrn');`);
    old.close();
    const now = connect(file);
    const rows = (statement: string): unknown[] => now.prepare(statement).raw().all();
    expect(rows('SELECT type, id FROM resource ORDER BY type, key')).toEqual([[1, 'a'], [1, 'b'], [1, 'c'], [2, 'a']]); // prettier-ignore
    expect(
      rows('SELECT r.type, r.id, v.body FROM version v JOIN resource r ON r.key = v.resource ORDER BY v.seq'),
    ).toEqual(
      [[1, 'b', '1'], [1, 'a', '2'], [2, 'a', '3'], [1, 'c', null], [1, 'b', '5']], // prettier-ignore
    );
    expect(rows('SELECT r.id, t.code FROM token t JOIN resource r ON r.key = t.resource ORDER BY 1')).toEqual([['a', 'a'], ['b', 'b']]); // prettier-ignore
    expect(
      rows('SELECT r.type, r.id, t.target FROM reference t JOIN resource r ON r.key = t.resource ORDER BY 1, 2'),
    ).toEqual(
      [[1, 'a', 'http://x/Group/7'], [1, 'b', 'Group/7'], [1, 'c', 'mrn'], [2, 'a', 'urn:u']], // prettier-ignore
    );
    const keys = now.prepare('SELECT key FROM resource').pluck().all() as number[];
    expect(keys.every((key) => Number.isSafeInteger(key))).toBe(true);
    now.close();
  });
});
