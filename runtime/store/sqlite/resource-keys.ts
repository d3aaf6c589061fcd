import type { Database } from 'better-sqlite3';

import { chooseKey, type Neighbour } from './key-order.js';

/** Gives new resources their keys. Inside a write transaction. */
export type KeyGiver = (type: number, id: string) => number;

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

  function ordered(type: number, id: string): number | undefined {
    const before = selectBefore.get(type, id);
    const after = selectAfter.get(type, id);
    const chosen = chooseKey(id, before, after, Math.random());
    if (chosen === undefined) return undefined;
    const low = before?.key ?? 0;
    const high = after?.key ?? Number.MAX_SAFE_INTEGER;
    for (let distance = 0; distance < TRIES; distance++) {
      for (const key of distance === 0 ? [chosen] : [chosen + distance, chosen - distance]) {
        if (key > low && key < high && isFree(key)) return key;
      }
    }
    return undefined;
  }

  return (type, id) => {
    if (!isUnordered(type)) {
      const key = ordered(type, id);
      if (key !== undefined) return key;
      mark.run(type);
    }
    for (;;) {
      const key = 1 + Math.floor(Math.random() * (Number.MAX_SAFE_INTEGER - 1));
      if (isFree(key)) return key;
    }
  };
}

/** Tells of a type, in the snapshot of the transaction, whether its keys are not in the order of ids. */
export function openKeyOrder(db: Database): (type: number) => boolean {
  const select = db.prepare<[number]>('SELECT 1 FROM unordered_type WHERE type = ?');
  return (type) => select.get(type) !== undefined;
}
