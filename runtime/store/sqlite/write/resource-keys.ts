import type { Database } from 'better-sqlite3';

import { chooseKeys, type Neighbour } from './key-order.js';

/** Gives new resources their keys. Inside a write transaction. */
export interface KeyGiver {
  give(type: number, id: string): number;
  /**
   * Of all that is of a type within one resource, which has none of it yet: one look at its neighbours is enough, and its keys do
   * not halve the room for others again and again.
   *
   * @param ids ascending
   * @returns in the same order
   */
  giveAll(type: number, ids: readonly string[]): readonly number[];
}

/** How many keys beside the chosen one are tried: other types have some of them. */
const TRIES = 64;

/**
 * Keys in the order of ids, unique over all types. A type in which there is no room left where it is needed is marked
 * as unordered for good.
 */
export function openKeyGiver(db: Database): KeyGiver {
  const selectBefore = db.prepare<[number, string], Neighbour>(
    'SELECT id, key FROM resource WHERE type = ? AND id < ? ORDER BY id DESC LIMIT 1',
  );
  const selectAfter = db.prepare<[number, string], Neighbour>(
    'SELECT id, key FROM resource WHERE type = ? AND id > ? ORDER BY id LIMIT 1',
  );
  const selectTaken = db.prepare<[number]>('SELECT 1 FROM resource WHERE key = ?');
  const isUnordered = openKeyOrder(db);
  const mark = db.prepare<[number]>('INSERT INTO unordered_type (type) VALUES (?)');

  const isFree = (key: number): boolean => selectTaken.get(key) === undefined;

  function ordered(type: number, ids: readonly string[]): readonly number[] | undefined {
    const [id = '', last = id] = [ids[0], ids.at(-1)];
    const before = selectBefore.get(type, id);
    const after = selectAfter.get(type, last);
    const chosen = chooseKeys(id, ids.length, before, after, Math.random());
    if (chosen === undefined) return undefined;
    const keys: number[] = [];
    const high = after?.key ?? Number.MAX_SAFE_INTEGER;
    for (let low = before?.key ?? 0; keys.length < ids.length;) {
      const key = freeBeside(Math.max(chosen.first + keys.length * chosen.step, low + 1), low, high);
      if (key === undefined) return undefined;
      keys.push(key);
      low = key;
    }
    return keys;
  }

  /** The nearest free key to one, between two others. */
  function freeBeside(chosen: number, low: number, high: number): number | undefined {
    for (let distance = 0; distance < TRIES; distance++) {
      for (const key of distance === 0 ? [chosen] : [chosen + distance, chosen - distance]) {
        if (key > low && key < high && isFree(key)) return key;
      }
    }
    return undefined;
  }

  function anywhere(count: number): readonly number[] {
    const keys = new Set<number>();
    while (keys.size < count) {
      const key = 1 + Math.floor(Math.random() * (Number.MAX_SAFE_INTEGER - 1));
      if (isFree(key)) keys.add(key);
    }
    return [...keys];
  }

  function giveAll(type: number, ids: readonly string[]): readonly number[] {
    if (ids.length === 0) return [];
    if (!isUnordered(type)) {
      const keys = ordered(type, ids);
      if (keys !== undefined) return keys;
      mark.run(type);
    }
    return anywhere(ids.length);
  }

  return { give: (type, id) => giveAll(type, [id])[0]!, giveAll };
}

/** Tells of a type, in the snapshot of the transaction, whether its keys are not in the order of ids. */
export function openKeyOrder(db: Database): (type: number) => boolean {
  const select = db.prepare<[number]>('SELECT 1 FROM unordered_type WHERE type = ?');
  return (type) => select.get(type) !== undefined;
}
