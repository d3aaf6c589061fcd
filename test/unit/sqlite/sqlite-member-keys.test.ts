import type Database from 'better-sqlite3';
import { randomUUID } from 'node:crypto';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';

import { connect } from '../../../runtime/store/sqlite/file/connect.js';
import { openDictionary } from '../../../runtime/store/sqlite/write/dictionary.js';
import { openIndexWriter } from '../../../runtime/store/sqlite/write/index-entries.js';
import { openContainedWriter } from '../../../runtime/store/sqlite/write/contained-resources.js';
import { openKeyGiver, openKeyOrder } from '../../../runtime/store/sqlite/write/resource-keys.js';
import { createRandom, seedOfRun } from '../../contract/random.js';

type Place = readonly [type: string, id: string, members: number];

describe('keys of what is within resources', () => {
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

  /** Writes containers one after the other, each anew as often as it is named. @returns whether keys are in the order of ids */
  function write(places: readonly Place[]): boolean {
    const dictionary = openDictionary(db);
    const members = openContainedWriter(db, dictionary, openIndexWriter(db, dictionary), openKeyGiver(db));
    const keys = new Map<string, number>();
    db.transaction(() => {
      for (const [type, id, count] of places) {
        const key = keys.get(`${type}/${id}`) ?? keys.size + 1;
        if (keys.size >= key) members.clear(key);
        keys.set(`${type}/${id}`, key);
        const contained = Array.from({ length: count }, (_, i) => ({ type: 'Drug', id: `m${i + 1}`, entries: [] }));
        members.add({ key, type, id, seq: 1, version: 1, updated: 1 }, contained);
      }
    })();
    const drug = dictionary.findTerm('#Drug')!;
    const given = db.prepare<[number], number>('SELECT key FROM resource WHERE type = ? ORDER BY id').pluck().all(drug);
    const last = new Map(places.map(([type, id, count]) => [`${type}/${id}`, count]));
    expect(given).toHaveLength([...last.values()].reduce((sum, count) => sum + count, 0));
    expect(given.every((key) => Number.isSafeInteger(key) && key > 0)).toBe(true);
    const isInOrder = given.every((key, i) => i === 0 || given[i - 1]! < key);
    expect(isInOrder || openKeyOrder(db)(drug)).toBe(true);
    return !openKeyOrder(db)(drug);
  }

  const random = createRandom(seedOfRun());
  const shuffled = <T>(all: readonly T[]): T[] => {
    const left = [...all];
    return all.map(() => left.splice(random.below(left.length), 1)[0]!);
  };
  const orders = (ids: readonly string[], members: number): Place[] => ids.map((id) => ['Order', id, members]);
  const ascending = (count: number): string[] => Array.from({ length: count }, (_, n) => `${n + 1}`);
  const uuids = (count: number): string[] => Array.from({ length: count }, () => randomUUID());
  const byTime = (count: number): string[] =>
    Array.from({ length: count }, (_, n) => {
      const time = (0x19a000000000 + n * 3).toString(16);
      return `0${time.slice(0, 7)}-${time.slice(7)}-7${randomUUID().slice(15)}`;
    });
  const kinds = ['Order', 'OrderResponse', 'Orbit', 'Other'];
  const mixed = (ids: readonly string[], members: number): Place[] =>
    ids.map((id) => [random.pick(kinds), id, members]);

  it.each<[string, () => readonly Place[]]>([
    ['one with 5000', () => orders(['a'], 5000)],
    ['many with 200, ascending', () => orders(ascending(100), 200)],
    ['many with 200, in no order', () => orders(uuids(100), 200)],
    ['one with 5000 among others', () => orders([...uuids(100), 'm', ...uuids(100)], 3).map(([type, id, count]) => [type, id, id === 'm' ? 5000 : count])], // prettier-ignore
    ['many with two, ascending', () => orders(ascending(5000), 2)],
    ['many with two, UUIDs of time', () => orders(byTime(5000), 2)],
    ['many with two, UUIDs of chance', () => orders(uuids(5000), 2)],
    ['many with two, numbers in no order', () => orders(shuffled(ascending(5000)), 2)],
    ['many of several types, UUIDs of chance', () => mixed(uuids(5000), 2)],
    ['many of several types, UUIDs of time', () => mixed(byTime(5000), 2)],
    ['types one after the other, UUIDs of chance', () => kinds.flatMap((type) => uuids(1500).map((id): Place => [type, id, 2]))], // prettier-ignore
    ['written again and again', () => Array.from({ length: 20 }, () => orders(shuffled(ascending(30)), 1 + random.below(50))).flat()], // prettier-ignore
  ])('are in the order of ids: %s', (_what, places) => {
    expect(write(places())).toBe(true);
  });
});
