import type Database from 'better-sqlite3';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';

import { connect } from '../../../../runtime/store/sqlite/file/connect.js';
import { openKeyGiver } from '../../../../runtime/store/sqlite/write/resource-keys.js';

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
});
