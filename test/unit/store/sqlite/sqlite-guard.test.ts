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

  describe('of a query that may take 10 ms once it has looked at 1,000 rows', () => {
    const now = vi.spyOn(performance, 'now');
    const guard = () => {
      now.mockReturnValue(0);
      const opened = openQueryInterrupt(db, new Int32Array(1));
      opened.begin(1, 10, 1000, () => away);
      return opened;
    };
    let away = 0;
    afterEach(() => {
      now.mockReset();
      away = 0;
    });

    it('lets it go on when the processor was away for a while', () => {
      const { step } = guard();
      now.mockReturnValue(39);
      expect(() => step(900)).not.toThrow();
      expect(() => step(300)).toThrow('takes too long');
    });

    it('stops it after four times that, and lets it look at more rows within its time', () => {
      const { step } = guard();
      now.mockReturnValue(9);
      expect(() => step(5000)).not.toThrow();
      const other = guard();
      now.mockReturnValue(41);
      expect(() => other.step(300)).toThrow('takes too long');
    });

    it('does not count time in which others had the processor', () => {
      const { step } = guard();
      away = 95;
      now.mockReturnValue(104);
      expect(() => step(5000)).not.toThrow();
      now.mockReturnValue(106);
      expect(() => step(1)).toThrow('takes too long');
    });
  });
});
