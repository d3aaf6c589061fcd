import type { Resource } from '../../../runtime/fhir/resource.js';
import type { Put } from '../../../runtime/store/store.js';
import { openBare } from '../bare/bare-inserts.js';
import { BATCH, toPut } from '../data/load-clinic.js';
import type { SameKeys } from './by-hand.js';

/**
 * The store's tables and indexes in a file of its own, and its rows, whose entries were made before. What clients create at the same time
 * shares a commit, always: the least that the rows can cost.
 */
export function openSameRows(file: string): SameKeys & { fill(resources: readonly Resource[]): void; close(): void } {
  const bare = openBare(file);
  // As the store has it.
  bare.db.pragma('wal_autocheckpoint = 8000');
  const observations: Put[] = [];
  let waiting: { readonly put: Put; readonly done: () => void }[] = [];

  const copyOf = (n: number, id: string): Put => {
    const put = observations[n % observations.length]!;
    return { ...put, id, body: { ...put.body, head: `{"resourceType":"${put.type}","id":"${id}","meta":{` } };
  };

  function commit(): void {
    const group = waiting;
    waiting = [];
    bare.insertAll(group.map(({ put }) => put));
    for (const { done } of group) done();
  }

  return {
    fill(resources) {
      for (let at = 0; at < resources.length; at += BATCH) {
        const puts = resources.slice(at, at + BATCH).map(toPut);
        observations.push(...puts.filter(({ type }) => type === 'Observation'));
        bare.insertAll(puts);
      }
    },
    create: (n) =>
      new Promise<void>((done) => {
        waiting.push({ put: copyOf(n, `same-${n}`), done });
        if (waiting.length === 1) setImmediate(commit);
      }),
    async transaction(n, count) {
      bare.insertAll(Array.from({ length: count }, (_, i) => copyOf(n + i, `copy-${n}-${i}`)));
    },
    close: () => void bare.db.close(),
  };
}
