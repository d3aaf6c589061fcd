import Database from 'better-sqlite3';
import { mkdirSync, mkdtempSync, readdirSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';

import { openSqliteStore } from '../../../../runtime/store/sqlite/sqlite-store.js';
import { removeStaleFolders, TEMPORARY_FOLDER } from '../../../../runtime/store/sqlite/file/stale-folders.js';
import { startChild } from '../../../contract/durability/children.js';
import { EVENTUALLY } from '../../../eventually.js';

let folder: string;
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'kiln-clean-up-'));
});
afterEach(() => rmSync(folder, { recursive: true }));

describe('temporary stores that killed processes left', () => {
  const given = process.env.TMPDIR;
  beforeEach(() => {
    process.env.TMPDIR = folder;
  });
  afterEach(() => {
    if (given === undefined) delete process.env.TMPDIR;
    else process.env.TMPDIR = given;
  });

  it('are deleted, but not those that are in use, young, or no folder of ours', async () => {
    const dead = await startChild('sqlite::memory:', 'fault', 'begin');
    dead.begin();
    expect(await dead.ended).toBe('SIGKILL');
    const left = readdirSync(folder);
    expect(left).toEqual([expect.stringMatching(/^kiln-memory-/)]);

    const live = openSqliteStore('sqlite::memory:');
    mkdirSync(join(folder, 'other-folder'));
    mkdirSync(join(folder, `${TEMPORARY_FOLDER}not-yet-a-file`));
    removeStaleFolders(folder);
    expect(readdirSync(folder)).toHaveLength(4);
    removeStaleFolders(folder, 0);
    const kept = readdirSync(folder);
    expect(kept).toHaveLength(2);
    expect(kept).toContain('other-folder');
    expect(kept).not.toContain(left[0]);
    await live.write([]);
    expect(await live.counts()).toEqual(new Map());
    await live.close();
    expect(readdirSync(folder)).toEqual(['other-folder']);
  });
});

describe('pieces of an upload whose process died', () => {
  const pieces = (file: string): number => {
    const db = new Database(file, { readonly: true });
    try {
      return db.prepare<[], number>('SELECT count(*) FROM blob_piece').pluck().get() ?? 0;
    } finally {
      db.close();
    }
  };

  it('are deleted after their time, those of a living upload and of finished ones stay', async () => {
    const file = join(folder, 'kiln.db');
    const url = `sqlite:${file}`;
    const early = openSqliteStore(url);
    const content = async function* (bytes: number, end?: Promise<void>) {
      yield new Uint8Array(bytes);
      await end;
    };
    await early.blobs.put('finished', content(10), 1e9);
    await early.close();
    const whole = pieces(file);
    const dead = await startChild(url, 'fault', 'piece');
    dead.begin();
    expect(await dead.ended).toBe('SIGKILL');
    expect(pieces(file)).toBeGreaterThanOrEqual(whole);

    const careful = openSqliteStore(url, { cleanInterval: 20 });
    let finish = (): void => {};
    const end = new Promise<void>((resolve) => (finish = resolve));
    const living = careful.blobs.put('living', content(3_000_000, end), 1e9);
    await vi.waitFor(() => expect(pieces(file)).toBeGreaterThan(whole), EVENTUALLY);
    await new Promise((resolve) => setTimeout(resolve, 200));
    expect(pieces(file)).toBeGreaterThan(whole);
    finish();
    await living;
    await careful.close();

    const before = pieces(file);
    const db = new Database(file);
    // As one that died had left them.
    db.exec(`INSERT INTO blob (size, sha256, put, touched) VALUES (0, '', 0, 1)`);
    const { id } = db.prepare<[], { id: number }>('SELECT max(id) AS id FROM blob').get()!;
    for (let n = 0; n < 500; n++) db.prepare('INSERT INTO blob_piece VALUES (?, ?, x\'00\')').run(id, n); // prettier-ignore
    db.close();
    expect(pieces(file)).toBe(before + 500);
    const cleaning = openSqliteStore(url, { cleanInterval: 20 });
    // Who never writes has no writer thread, and cleans nothing.
    await cleaning.maps.delete('any', 'key');
    await vi.waitFor(() => expect(pieces(file)).toBe(before), EVENTUALLY);
    expect((await cleaning.blobs.get('finished'))?.size).toBe(10);
    expect((await cleaning.blobs.get('living'))?.size).toBe(3_000_000);
    await cleaning.close();
  });
});
