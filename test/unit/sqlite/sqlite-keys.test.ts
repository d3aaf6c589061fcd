import Database from 'better-sqlite3';
import { randomUUID } from 'node:crypto';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';

import { connect } from '../../../runtime/store/sqlite/file/connect.js';
import { chooseKeys } from '../../../runtime/store/sqlite/write/key-order.js';
import { openKeyGiver, openKeyOrder } from '../../../runtime/store/sqlite/write/resource-keys.js';
import { APPLICATION_ID, SCHEMA_STEPS } from '../../../runtime/store/sqlite/file/schema.js';
import { createRandom, seedOfRun } from '../../contract/random.js';

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

  /** Creates resources of several types with these ids. @returns whether the type is in the order of ids */
  function create(ids: readonly string[], types = [1]): boolean {
    const { give } = openKeyGiver(db);
    const insert = db.prepare(
      'INSERT INTO resource (key, type, id, seq, version, updated, deleted) VALUES (?, ?, ?, 1, 1, 1, 0)',
    );
    db.transaction(() => {
      for (const id of ids) for (const type of types) insert.run(give(type, id), type, id);
    })();
    const isUnordered = openKeyOrder(db);
    for (const type of types) {
      const select = db.prepare<[number], number>('SELECT key FROM resource WHERE type = ? ORDER BY id').pluck();
      const keys = select.all(type);
      expect(keys.every((key) => Number.isSafeInteger(key) && key > 0)).toBe(true);
      expect(keys).toHaveLength(ids.length);
      const isInOrder = keys.every((key, i) => i === 0 || keys[i - 1]! < key);
      expect(isInOrder || isUnordered(type)).toBe(true);
    }
    return !types.some((type) => isUnordered(type));
  }

  const random = createRandom(seedOfRun());
  const shuffled = (ids: readonly string[]): string[] => {
    const left = [...ids];
    return ids.map(() => left.splice(random.below(left.length), 1)[0]!);
  };
  const numbers = Array.from({ length: 5000 }, (_, n) => n);
  const ascending = numbers.map((n) => `${(1e12 + n * 3).toString(16)}-7abc`);

  const DAY = 86_400_000;
  const uuidOf = (time: number): string => {
    const digits = time.toString(16).padStart(12, '0');
    return `${digits.slice(0, 8)}-${digits.slice(8)}-7${randomUUID().slice(15)}`;
  };
  /** Once a day eight transactions of 20, whose ids are made within 35 ms: they are written in some other order. */
  const bursts = (days: number): readonly string[] =>
    Array.from({ length: days }, (_, day) => {
      const start = Date.UTC(2026, 10, 1) + day * DAY;
      const transactions = Array.from({ length: 8 }, () => {
        const time = start + random.below(35);
        return Array.from({ length: 20 }, (_each, i) => uuidOf(time + (i < 10 ? 0 : 1)));
      });
      return shuffled(transactions.map((_each, i) => String(i))).flatMap((i) => transactions[Number(i)]!);
    }).flat();

  it.each<[string, () => readonly string[]]>([
    ['transactions at the same time, after pauses', () => bursts(100)],
    ['the same behind older ones', () => [...ascending.map((_, n) => uuidOf(1.55e12 + n * 7)), ...bursts(30)]],
    ['the same before one that comes last', () => ['z', ...bursts(60)]],
    ['the same among UUIDs of chance', () => [...numbers.map(() => randomUUID()), ...bursts(30)]],
    ['the same where a digit is carried', () => Array.from({ length: 40 }, (_, n) => shuffled(numbers.slice(0, 160)
      .map((i) => uuidOf(0x1a21a4dffe0 + n * 0x1_0000_0000 + (i >> 2))))).flat()], // prettier-ignore
    ['UUIDs of time', () => ascending.map((time) => `0${time}-${randomUUID().slice(14)}`)],
    ['UUIDs of chance', () => numbers.map(() => randomUUID())],
    ['numbers, ascending', () => numbers.map(String)],
    ['numbers, descending', () => numbers.map(String).reverse()],
    ['numbers behind a beginning, descending', () => numbers.map((n) => `enc-${12_000 - n}`)],
    ['the same to the least', () => Array.from({ length: 10_100 }, (_, n) => `enc-${10_100 - n}`)],
    ['the same behind UUIDs', () => [...numbers.map(() => randomUUID()), ...numbers.map((n) => `p-${5000 - n}`)]],
    ['numbers in no order', () => shuffled(numbers.map(String))],
    ['a long beginning, ascending', () => numbers.map((n) => `urn.example.hospital.patient.${10_000 + n}`)],
    ['a long beginning, in no order', () => shuffled(numbers.map((n) => `urn.example.hospital.patient.${n}`))],
    ['several beginnings, in no order', () => shuffled(numbers.map((n) => `${'abcXYZ'[n % 6]}-${n}`))],
    [
      'letters of either case',
      () => [...new Set(numbers.map(() => random.pick('aAzZ-.09'.split('')) + (Math.random() + 1).toString(36)))],
    ],
  ])('are in the order of ids: %s', (_what, ids) => {
    expect(create(ids())).toBe(true);
  });

  it('are in the order of ids in many types that have the same ones', () => {
    const types = Array.from({ length: 150 }, (_, n) => n + 1);
    expect(create(shuffled(numbers.slice(0, 300).map(String)), types)).toBe(true);
  });

  it('are in the order of ids where one begins with the other, in whatever order they come', () => {
    const ids = Array.from({ length: 64 }, (_, n) => 'a'.repeat(n + 1));
    for (let type = 1; type <= 20; type++) expect(create(shuffled(ids), [type]), String(type)).toBe(true);
  });

  it('a type in which there is no room left is marked, and goes on', () => {
    db.exec("INSERT INTO resource VALUES (1000, 1, 'a', 1, 1, 1, 0), (1001, 1, 'c', 1, 1, 1, 0)");
    const { give } = openKeyGiver(db);
    expect(give(1, 'd')).toBeGreaterThan(1001);
    expect(openKeyOrder(db)(1)).toBe(false);
    const keys = ['b', 'ba', 'bb'].map((id) => give(1, id));
    expect(openKeyOrder(db)(1)).toBe(true);
    expect(keys.every((key) => Number.isSafeInteger(key) && key > 0 && key !== 1000 && key !== 1001)).toBe(true);
    expect(create(['other'], [2])).toBe(true);
  });

  it('have room between neighbours that are far apart, and none between those that touch', () => {
    const between = chooseKeys('b', 1, { id: 'a', key: 1 }, { id: 'c', key: 2 ** 40 }, 0)!.first;
    expect(between).toBeGreaterThan(2 ** 12);
    expect(between).toBeLessThan(2 ** 40 - 2 ** 12);
    expect(chooseKeys('b', 1, { id: 'a', key: 7 }, { id: 'c', key: 9 }, 0.9)?.first).toBe(8);
    expect(chooseKeys('b', 1, { id: 'a', key: 7 }, { id: 'c', key: 8 }, 0)).toBeUndefined();
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
