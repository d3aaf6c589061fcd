import Database from 'better-sqlite3';
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';

import { openQueryInterrupt } from '../../../../runtime/store/sqlite/file/query-interrupt.js';

describe('what counts the rows that drive a query', () => {
  let db: Database.Database;
  beforeEach(() => void (db = new Database(':memory:')));
  afterEach(() => db.close());

  function rowsWithin(keys: readonly number[], rows: number): number | undefined {
    db.exec('DROP TABLE IF EXISTS driving; CREATE TABLE driving (place INTEGER PRIMARY KEY, resource INTEGER)');
    const insert = db.prepare('INSERT INTO driving (resource) VALUES (?)');
    for (const key of keys) insert.run(key);
    const guard = openQueryInterrupt(db, new Int32Array(1));
    guard.begin(1, 10_000);
    const select = `SELECT count(*) FROM (SELECT resource FROM driving WHERE ${guard.sql('resource')} ORDER BY place)`;
    return guard.within({ rows }, () => db.prepare<[], number>(select).pluck().get());
  }

  it('takes very many rows of one resource for as many, whichever key it has', () => {
    for (let key = 1000; key < 1061; key++) {
      expect(rowsWithin(new Array<number>(2000).fill(key), 3000), String(key)).toBe(2000);
    }
  });

  it('stops where rows of many resources are more than were allowed', () => {
    const keys = Array.from({ length: 5000 }, (_, key) => key);
    expect(rowsWithin(keys, 3000)).toBeUndefined();
    expect(rowsWithin(keys, 6000)).toBe(5000);
    expect(rowsWithin(keys.flatMap((key) => [key, key, key, key]).slice(0, 8000), 3000)).toBeUndefined();
    expect(rowsWithin(new Array<number>(8000).fill(61), 3000)).toBeUndefined();
  });

  it('stops a query at the end of its time', () => {
    const now = vi.spyOn(performance, 'now').mockReturnValue(0);
    const { begin, step } = openQueryInterrupt(db, new Int32Array(1));
    begin(1, 10);
    now.mockReturnValue(9);
    expect(step).not.toThrow();
    now.mockReturnValue(11);
    expect(step).toThrow('takes too long');
    now.mockRestore();
  });
});
