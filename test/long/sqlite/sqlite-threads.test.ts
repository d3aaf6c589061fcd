import Database from 'better-sqlite3';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { Worker } from 'node:worker_threads';
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';

import { openSqliteStore } from '../../../runtime/store/sqlite/sqlite-store.js';
import type { SqliteOptions } from '../../../runtime/store/sqlite/settings.js';
import type * as StartWorker from '../../../runtime/store/sqlite/threads/start-thread.js';
import type { Store } from '../../../runtime/store/store.js';
import { atMost } from '../../at-most.js';
import { put } from '../../contract/subject.js';

/** The threads that the store started, newest last. */
const started = vi.hoisted(() => [] as { name: string; worker: Worker }[]);
vi.mock('../../../runtime/store/sqlite/threads/start-thread.js', async (load) => {
  const { startWorker } = await load<typeof StartWorker>();
  return {
    startWorker(name: `${string}-worker`, data: unknown) {
      const worker = startWorker(name, data);
      started.push({ name, worker });
      return worker;
    },
  };
});

let folder: string;
let file: string;
let store: Store | undefined;
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'kiln-threads-'));
  file = join(folder, 'kiln.db');
  started.length = 0;
});
afterEach(async () => {
  await store?.close();
  store = undefined;
  rmSync(folder, { recursive: true });
});

function open(options?: SqliteOptions): Store {
  return (store = openSqliteStore(`sqlite:${file}`, options));
}

const unavailable = { code: 'store-unavailable', status: 503 };

function newest(name: string): Worker {
  const found = started.findLast((each) => each.name === name);
  if (found === undefined) throw new Error(`no ${name} was started`);
  return found.worker;
}

/** A history of one resource: a version and its followers, too many to be counted quickly. */
async function fillHistory(count: number): Promise<void> {
  const filling = openSqliteStore(`sqlite:${file}`);
  await filling.write([put('a', 0)]);
  await filling.close();
  const db = new Database(file);
  db.prepare(
    `WITH RECURSIVE n(i) AS (SELECT 2 UNION ALL SELECT i + 1 FROM n WHERE i < ?)
     INSERT INTO version SELECT i, type, resource, i, updated, body FROM n, version v WHERE v.seq = 1`,
  ).run(count);
  db.exec('UPDATE clock SET seq = (SELECT max(seq) FROM version)');
  db.exec('UPDATE resource SET (seq, version) = (SELECT max(seq), max(version) FROM version)');
  db.close();
}

describe('a thread that dies', () => {
  it('the writer: what it was asked is 503, what comes next is written', async () => {
    const { write, read } = open();
    await write([put('a', 0)]);
    const dying = newest('writer-worker').terminate();
    const lost = [write([put('b', 0)]), write([put('c', 0)])];
    for (const each of lost) await expect(each).rejects.toMatchObject(unavailable);
    await dying;
    expect((await write([put('d', 0)]))[0]?.version).toBe(1);
    expect((await read('Patient', 'a'))?.version).toBe(1);
    expect((await read('Patient', 'd'))?.version).toBe(1);
    expect(started.filter(({ name }) => name === 'writer-worker')).toHaveLength(2);
    expect(await store?.check()).toEqual({ ok: true });
  });

  it('a reader: what it was asked is 503, what comes next is answered', async () => {
    const { write, history, counts } = open({ readers: 1 });
    await write([put('a', 0)]);
    await history({ count: 1 });
    const dying = newest('reader-worker').terminate();
    await expect(history({ count: 1 })).rejects.toMatchObject(unavailable);
    await dying;
    expect((await history({ count: 1 })).total).toBe(1);
    expect(await counts()).toEqual(new Map([['Patient', 1]]));
  });
});

describe('a query that takes too long', () => {
  it('is stopped by its budget, in its thread too, while others go on', async () => {
    await fillHistory(3_000_000);
    const { history, read, write } = open({ readers: 2, queryBudget: 60 });
    // The threads start first, which would take all of the budget.
    await Promise.allSettled([history({ count: 0, type: 'None' }), history({ count: 0, type: 'None' })]);
    await new Promise((resolve) => setTimeout(resolve, 1500));
    expect((await history({ count: 0, type: 'None' })).total).toBe(0);
    const readers = started.length;

    const begin = performance.now();
    const slow = [history({ count: 0 }), history({ count: 0 })];
    const told = slow.map((each) => expect(each).rejects.toMatchObject({ code: 'too-costly' }));
    expect((await read('Patient', 'a'))?.version).toBe(3_000_000);
    expect((await write([put('b', 0)]))[0]?.version).toBe(1);
    await Promise.all(told);
    // Both threads had one: they stopped of themselves, and serve on.
    expect((await history({ count: 0, type: 'None' })).total).toBe(0);
    expect(performance.now() - begin).toBeLessThan(atMost(2500));
    expect(started).toHaveLength(readers + 1);
  });

  it('does not hold up those that are quick, and comes to its end', async () => {
    await fillHistory(3_000_000);
    const { history } = open({ readers: 2, queryBudget: 60_000 });
    const quick = async (): Promise<number> => (await history({ count: 0, type: 'None' })).total;
    await Promise.all([quick(), quick()]);
    const slow = Array.from({ length: 3 }, async () => {
      // Since a time: the total of a whole history is remembered.
      const { total } = await history({ count: 0, since: 1 });
      return { total, at: performance.now() };
    });
    await new Promise((resolve) => setTimeout(resolve, 20));
    expect(await quick()).toBe(0);
    const quickAt = performance.now();
    const ends = await Promise.all(slow);
    expect(ends.map(({ total }) => total)).toEqual([3_000_000, 3_000_000, 3_000_000]);
    // In the order they came it would have had to wait for two of them.
    expect(ends.filter(({ at }) => at > quickAt).length).toBeGreaterThanOrEqual(2);
  });
});
