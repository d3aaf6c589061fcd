import Database from 'better-sqlite3';
import { chmodSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { beforeEach, describe, expect, it } from 'vitest';

import { backUp } from '../../runtime/store/sqlite/file/backup.js';
import { INDEX_TABLES } from '../../runtime/store/sqlite/file/schema.js';
import type { Store } from '../../runtime/store/store.js';
import { openStore } from './open-store.js';
import { of, reference, token, words } from './search/behaviour-search-helpers.js';
import { deletion, put, useStore } from './subject.js';

/** What a SQLite file does beyond the contract: its writes are in one order, and it can be copied. */
describe('a SQLite file', () => {
  const subject = useStore({ name: 'SQLite', url: (place) => `sqlite:${join(place, 'kiln.db')}`, isShared: true });
  let store: Store;
  beforeEach(() => {
    store = subject.store;
  });

  it.skipIf(process.platform === 'win32')('is for its owner alone, and so are its log and its copies', async () => {
    const file = join(subject.place, 'kiln.db');
    const copy = join(subject.place, 'copy.db');
    await store.write([put('a', 0)]);
    await backUp(file, copy);
    const mode = (path: string): number => statSync(path).mode & 0o777;
    expect([file, `${file}-wal`, copy].map(mode)).toEqual([0o600, 0o600, 0o600]);
    chmodSync(file, 0o640);
    await subject.reopen();
    expect(mode(file)).toBe(0o640);
  });

  it('has a lastUpdated that never goes back, though the clock does, nor between instances', async () => {
    let time = 1_700_000_000_000;
    const first = await subject.reopen({ now: () => time });
    await first.write([put('a', 0), put('a', 1)]);
    time -= 3_600_000;
    const [b] = await first.write([put('b', 0)]);
    expect(b?.lastUpdated).toBe(1_700_000_000_002);
    time -= 1;
    const [c] = await first.write([put('c', 0)]);
    expect(c?.lastUpdated).toBe(1_700_000_000_003);
  });

  it('has a lastUpdated that never goes back, though another process has an older clock', async () => {
    const [first] = await store.write([put('a', 0)]);
    const late = await subject.reopen({ now: () => 1_000_000 });
    const [second] = await late.write([put('b', 0)]);
    expect(second?.lastUpdated).toBeGreaterThan(first?.lastUpdated ?? Infinity);
  });

  it('has nothing left of what was within a resource that is deleted', async () => {
    const entries = [of('code', token('x')), of('of', reference({ type: 'Drug', id: 'd' })), of('_text', words('x'))];
    const contained = Array.from({ length: 10 }, (_, n) => ({ type: n < 5 ? 'Drug' : 'Tool', id: `m${n}`, entries }));
    const db = new Database(join(subject.place, 'kiln.db'), { readonly: true });
    const count = (table: string): number => db.prepare<[], number>(`SELECT count(*) FROM ${table}`).pluck().get()!;
    const counts = (): number[] => ['resource', 'member', ...INDEX_TABLES].map(count);
    await store.write([put('a', 0)]);
    const before = counts();
    await store.write([{ ...put('a', 1), contained }]);
    expect([count('resource'), count('member')]).toEqual([11, 10]);
    await store.write([{ ...put('a', 2), contained: contained.slice(3, 7) }]);
    expect([count('resource'), count('member')]).toEqual([5, 4]);
    await store.write([deletion('a', 3)]);
    expect(counts()).toEqual(before);
    db.close();
  });

  it('has no instant before which nothing is new as long as nothing was written', async () => {
    const empty = await openStore('sqlite::memory:');
    expect((await empty.history({ count: 1 })).complete).toBe(0);
    expect((await empty.history({ count: 1, type: 'Patient' })).complete).toBe(0);
    await empty.close();
  });

  it('has a history that is complete up to its last write', async () => {
    const [one] = await store.write([put('a', 0)]);
    const { complete } = await store.history({ count: 1 });
    const [two] = await store.write([put('b', 0)]);
    expect(complete).toBe((one?.lastUpdated ?? 0) + 1);
    expect(two?.lastUpdated).toBeGreaterThanOrEqual(complete);
  });

  it('has a backup that is whole, of one instant, and overwrites nothing', async () => {
    for (let n = 0; n < 20; n++) await store.write([put(`p${n}`, 0, 'x'.repeat(1000)), put(`q${n}`, 0)]);
    await store.blobs.put('k', (async function* () { yield new Uint8Array(300_000).fill(7); })(), 1e9); // prettier-ignore
    const copy = join(subject.place, 'backup');
    const copied = (): Promise<void> => backUp(join(subject.place, 'kiln.db'), copy);
    const [, ...late] = await Promise.all([
      copied(),
      ...Array.from({ length: 20 }, (_, n) => store.write([put(`late${n}`, 0), put(`later${n}`, 0)])),
    ]);
    expect(late).toHaveLength(20);
    await expect(copied()).rejects.toThrow(/overwrites nothing/);
    const restored = await subject.adopt(`sqlite:${copy}`);
    const counted = (await restored.counts()).get('Patient') ?? 0;
    expect(counted).toBeGreaterThanOrEqual(40);
    expect(counted % 2).toBe(0);
    expect((await restored.history({ count: 0 })).total).toBe(counted);
    expect(await restored.read('Patient', 'p7')).toEqual(await store.read('Patient', 'p7'));
    expect((await restored.blobs.get('k'))?.size).toBe(300_000);
    expect((await restored.write([put('p7', 1)]))[0]?.version).toBe(2);
  });
});
