import { chmodSync, mkdtempSync, readdirSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';

import { backUp } from '../../runtime/store/sqlite/file/backup.js';
import { openSqliteStore } from '../../runtime/store/sqlite/sqlite-store.js';
import type { Store } from '../../runtime/store/store.js';
import { put } from '../contract/subject.js';
import { mountSmallDisk } from './full-disk.js';

describe('a disk', () => {
  let folder: string;
  let disk: ReturnType<typeof mountSmallDisk>;
  let store: Store;
  beforeEach(() => {
    folder = mkdtempSync(join(tmpdir(), 'kiln-disk-'));
    disk = mountSmallDisk(folder, 11);
    store = openSqliteStore(`sqlite:${join(folder, 'kiln.db')}`, disk === undefined ? { maxPages: 1500 } : {});
  });
  afterEach(async () => {
    await store.close();
    disk?.unmount();
    rmSync(folder, { recursive: true, force: true });
  });

  async function expectAll(acknowledged: readonly string[]): Promise<void> {
    for (const id of acknowledged) expect((await store.read('Patient', id))?.version, id).toBe(1);
    const { total, versions } = await store.history({ count: 1000 });
    expect(total).toBe(acknowledged.length);
    expect(versions.map(({ id }) => id).sort()).toEqual([...acknowledged].sort());
  }

  it('that is full gives 503, loses nothing that was answered, and serves again when there is room', async () => {
    const ballast = join(folder, 'ballast');
    if (disk !== undefined) writeFileSync(ballast, Buffer.alloc(6 * 1024 * 1024));
    const acknowledged: string[] = [];
    let failures = 0;
    for (let round = 0; round < 60 && failures < 20; round++) {
      const ids = Array.from({ length: 8 }, (_, n) => `r${round}-${n}`);
      const results = await Promise.allSettled(ids.map((id) => store.write([put(id, 0, 'x'.repeat(40_000))])));
      for (const [n, result] of results.entries()) {
        if (result.status === 'fulfilled') acknowledged.push(ids[n]!);
        else {
          failures++;
          expect(result.reason).toMatchObject({ code: 'store-unavailable', status: 503 });
        }
      }
    }
    expect(acknowledged.length).toBeGreaterThan(5);
    expect(failures).toBeGreaterThan(0);
    await expectAll(acknowledged);
    const upload = (async function* () { for (let n = 0; n < 40; n++) yield new Uint8Array(262_144); })(); // prettier-ignore
    await expect(store.blobs.put('k', upload, 1e9)).rejects.toMatchObject({ code: 'store-unavailable' });
    expect(await store.blobs.get('k')).toBeUndefined();
    if (disk === undefined) return;

    // Said to be well: what failed left room for the small write that it tried.
    await expect(store.write([put('large', 0, 'x'.repeat(400_000))])).rejects.toMatchObject({ status: 503 });
    expect(await store.check()).toMatchObject({ ok: false });
    expect(await store.check()).toMatchObject({ ok: false });

    rmSync(ballast);
    // The log, which could not be written back, takes as much as it has of that first.
    await expect.poll(() => store.check()).toEqual({ ok: true });
    for (const id of ['again1', 'again2']) {
      await store.write([put(id, 0)]);
      acknowledged.push(id);
    }
    await expectAll(acknowledged);
  });

  it('that has no room for a backup was told as a store that does not work', async () => {
    if (disk === undefined) return console.warn('NOT TESTED: a backup onto a full disk');
    const elsewhere = mkdtempSync(join(tmpdir(), 'kiln-disk-from-'));
    const source = openSqliteStore(`sqlite:${join(elsewhere, 'from.db')}`);
    try {
      for (let n = 0; n < 30; n++) await source.write([put(`b${n}`, 0, 'x'.repeat(400_000))]);
      const target = join(folder, 'copy.db');
      await expect(backUp(join(elsewhere, 'from.db'), target)).rejects.toThrow(`${target} cannot be written: the disk`);
      expect(readdirSync(folder).filter((name) => name.startsWith('copy'))).toEqual([]);
    } finally {
      await source.close();
      rmSync(elsewhere, { recursive: true });
    }
  });

  it('that is read-only gives 503 and says so to who checks, until it is writable again', async () => {
    await store.write([put('a', 0)]);
    if (disk === undefined) return console.warn('NOT TESTED: a file system that becomes read-only');
    await store.close();
    disk.remount('ro');
    try {
      expect(() => openSqliteStore(`sqlite:${join(folder, 'kiln.db')}`)).toThrow(/kiln\.db: /);
    } finally {
      disk.remount('rw');
    }
    chmodSync(join(folder, 'kiln.db'), 0o644);
    store = openSqliteStore(`sqlite:${join(folder, 'kiln.db')}`);
    await store.write([put('b', 0)]);
    await expectAll(['a', 'b']);
  });
});
