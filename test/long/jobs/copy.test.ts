import Database from 'better-sqlite3';
import {
  existsSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  symlinkSync,
  linkSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';

import { openSqliteStore } from '../../../runtime/store/sqlite/sqlite-store.js';
import type { Store } from '../../../runtime/store/store.js';
import { put } from '../../contract/subject.js';
import { contentOf, fill, putBlob, runKiln, type Content } from './copy-subject.js';
import { startKiln } from '../../service/kiln-process.js';

let folder: string;
let from: string;
let to: string;
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'kiln-copy-'));
  from = `sqlite:${join(folder, 'from.db')}`;
  to = `sqlite:${join(folder, 'to.db')}`;
});
afterEach(() => rmSync(folder, { recursive: true }));

async function within<T>(url: string, action: (store: Store) => Promise<T>): Promise<T> {
  const store = openSqliteStore(url);
  try {
    return await action(store);
  } finally {
    await store.close();
  }
}
const read = (url: string): Promise<Content> => within(url, contentOf);
const copy = () => runKiln('copy', '--from', from, '--to', to);

// Each run opens two stores, which takes seconds where others compete for the processor.
describe('kiln copy', { timeout: 120_000 }, () => {
  it('copies everything, and shows that it did', async () => {
    const original = await within(from, async (store) => {
      await fill(store);
      await fill(store, 1);
      return contentOf(store);
    });
    expect(original.versions.length).toBe(80);
    const ran = await copy();
    expect(ran).toMatchObject({ code: 0 });
    expect(ran.out).toMatch(/Patient +6 +40 +6 +40$/m);
    expect(ran.out).toMatch(/all +18 +80 +18 +80$/m);
    const hashes = [...ran.out.matchAll(/^ {2}(source|target) ([0-9a-f]{64})(.*)$/gm)].map(([, , ...hash]) =>
      hash.join(),
    );
    expect(hashes).toHaveLength(6);
    for (const at of [0, 2, 4]) expect(hashes[at]).toBe(hashes[at + 1]);
    expect(new Set(hashes).size).toBe(3);
    expect(ran.out).toContain('the copy is equal');
    // What it cannot index is not lost.
    expect(ran.err).toMatch(/Unheard\/u0: copied, but no search will find it: Unheard is no resource type/);
    expect(await read(to)).toEqual(original);
    expect(await read(from)).toEqual(original);
  });

  it('says what is to be made anew there for search parameters that came along', async () => {
    const colour = {
      resourceType: 'SearchParameter',
      id: 'colour',
      url: 'http://example.org/SearchParameter/colour',
      name: 'Colour',
      description: 'x',
      status: 'active',
      code: 'colour',
      base: ['Patient'],
      type: 'token',
      processingMode: 'normal',
      expression: "Patient.extension('urn:colour').value.ofType(code)",
    };
    writeFileSync(join(folder, 'one.ndjson'), `${JSON.stringify(colour)}\n{"resourceType":"Patient","id":"p"}`);
    expect((await runKiln('load', join(folder, 'one.ndjson'), '--store', from)).code).toBe(0);
    const told = /the copy is equal\nIndex entries of Patient\.colour .* until kiln reindex is run$/;
    expect((await copy()).out).toMatch(told);
    expect((await runKiln('reindex', '--store', to)).code).toBe(0);
    expect((await copy()).out).toMatch(/the copy is equal$/);
  });

  it('there and back again is equal, and what was copied is indexed as what was loaded', async () => {
    writeFileSync(
      join(folder, 'one.ndjson'),
      ['a', 'b']
        .map((id) =>
          JSON.stringify({ resourceType: 'Patient', id, name: [{ family: 'Kiln' }], birthDate: '1999-01-02' }),
        )
        .join('\n'),
    );
    expect((await runKiln('load', join(folder, 'one.ndjson'), '--store', from)).code).toBe(0);
    const back = `sqlite:${join(folder, 'back.db')}`;
    expect(await copy()).toMatchObject({ code: 0 });
    expect(await runKiln('copy', '--from', to, '--to', back)).toMatchObject({ code: 0 });
    expect(await read(back)).toEqual(await read(from));
    const [original, copied] = [from, back].map((url) => {
      const db = new Database(url.replace('sqlite:', ''), { readonly: true });
      const rows = ['string', 'date', 'token'].map((table) =>
        db
          .prepare(
            `SELECT r.id AS resource_id, p.code AS name, x.* FROM ${table} x
             JOIN resource r ON r.key = x.resource JOIN param p ON p.id = x.param`,
          )
          .all(),
      );
      db.close();
      // Numbers that each file gives as it comes.
      return rows.flat().map((row) => ({ ...(row as Record<string, unknown>), resource: 0, param: 0, n: 0 }));
    });
    expect(original!.length).toBeGreaterThan(5);
    expect(copied).toEqual(original);
  });

  it('of nothing is nothing', async () => {
    await within(from, async () => {});
    expect(await copy()).toMatchObject({ code: 0 });
    expect(await read(to)).toEqual({ versions: [], blobs: [], maps: [] });
  });

  it('run again does nothing, and catches up with what has come since', async () => {
    await within(from, (store) => fill(store));
    expect((await copy()).err).toMatch(/40 versions in/);
    const again = await copy();
    expect(again).toMatchObject({ code: 0 });
    expect(again.err).toMatch(/40 versions are there already\n0 versions in/);
    await within(from, async (store) => {
      await fill(store, 1);
      await store.blobs.delete('binary/1');
      await store.maps.delete('clients', 'é "\\ 0');
    });
    const third = await copy();
    expect(third).toMatchObject({ code: 0 });
    expect(third.err).toMatch(/40 versions in/);
    const original = await read(from);
    expect(original.blobs).toHaveLength(2);
    expect(await read(to)).toEqual(original);
  });

  it('notices what is written meanwhile, and catches up', async () => {
    await within(from, async (store) => {
      for (let n = 0; n < 4000; n += 500) {
        await store.write(Array.from({ length: 500 }, (_, i) => put(`m${n + i}`, 0)));
      }
      let isOver = false;
      const first = copy().finally(() => (isOver = true));
      let written = 0;
      for (; !isOver; written++) await store.write([put(`w${written}`, 0), put('again', written)]);
      expect(written).toBeGreaterThan(10);
      const { code, err } = await first;
      if (code !== 0) expect(err).toMatch(/versions differ; .* is not in the target\. Where the source was written to/);
    });
    expect(await copy()).toMatchObject({ code: 0 });
    expect(await read(to)).toEqual(await read(from));
  });

  describe('refuses a target', () => {
    beforeEach(() => within(from, (store) => fill(store)));

    it.each<[string, (store: Store) => Promise<unknown>, RegExp]>([
      [
        'resources',
        (store) => store.write([put('a', 0)]),
        /it has 1 versions of resources \(living: 1 Patient\); copy/,
      ],
      ['a content', (store) => putBlob(store, 'k', Buffer.from('x')), /it has 1 blobs;/],
      [
        'a map',
        (store) => store.maps.swap('clients', 'k', undefined, 'v'),
        /it has maps \(clients\);.* before clients are registered there/,
      ],
    ])('that has %s, and leaves it as it is', async (_what, action, message) => {
      await within(to, action);
      const before = await read(to);
      const ran = await copy();
      expect(ran).toMatchObject({ code: 1, out: '' });
      expect(ran.err).toMatch(/^kiln: the target is not empty: /);
      expect(ran.err).toMatch(message);
      expect(await read(to)).toEqual(before);
    });

    it('into which another store is being copied', async () => {
      expect((await copy()).code).toBe(0);
      const other = `sqlite:${join(folder, 'other.db')}`;
      await within(other, async () => {});
      const ran = await runKiln('copy', '--from', other, '--to', to);
      expect(ran).toMatchObject({ code: 1 });
      expect(ran.err).toMatch(/the target holds a copy of sqlite:.*from\.db; go on with that one/);
    });

    it('that was begun from a store that has been replaced since', async () => {
      expect((await copy()).code).toBe(0);
      for (const file of readdirSync(folder)) if (file.startsWith('from.db')) rmSync(join(folder, file));
      await within(from, (store) => store.write([put('another', 0)]));
      const ran = await copy();
      expect(ran).toMatchObject({ code: 1 });
      expect(ran.err).toMatch(
        /the source is not the one that this copy was begun from: \w+\/\w+\/_history\/\d+ is missing/,
      );
    });

    it('that is of a newer Kiln, or of another program', async () => {
      const file = to.replace('sqlite:', '');
      await within(to, async () => {});
      const db = new Database(file);
      db.pragma('user_version = 1000');
      db.close();
      expect((await copy()).err).toMatch(/written by a newer Kiln/);
      writeFileSync(file, 'no database at all, but a text that someone needs');
      const ran = await copy();
      expect(ran).toMatchObject({ code: 1 });
      expect(readFileSync(file, 'utf8')).toContain('someone needs');
    });
  });

  it.each([
    [['--to', 'sqlite:x.db'], /'--from <STORE>' not specified/],
    [['--from', 'sqlite:x.db'], /'--to <STORE>' not specified/],
    [['--from', 'sqlite:x.db', '--to', 'sqlite:./x.db'], /are the same store/],
    [['--from', 'mongodb://u:secret@H,i/d?w=1', '--to', 'mongodb://i:27017,h:27017/d'], /are the same store/],
    [['--from', 'sqlite:x.db', '--to', 'sqlite::memory:'], /--to: a memory store ends with this command/],
    [['--from', 'sqlite::memory:', '--to', 'sqlite:x.db'], /--from: a memory store/],
    [['--from', 'x.db', '--to', 'sqlite:y.db'], /--from "x\.db": has to be sqlite:PATH/],
    [['--from', 'sqlite:x.db', '--to', 'mysql://u:secret@h/d'], /--to "mysql:\/\/u:\*\*\*@h\/d": has to be/],
    [['--from', 'sqlite:x.db', '--to', 'sqlite:y.db', '--store', 'sqlite:z.db'], /unknown option '--store'/],
  ])('%j is called wrongly', async (args, message) => {
    const before = readdirSync('.');
    const ran = await runKiln('copy', ...args);
    expect(ran).toMatchObject({ code: 2, out: '' });
    expect(ran.err).toMatch(message);
    expect(ran.err).not.toContain('secret');
    expect(readdirSync('.')).toEqual(before);
  });

  it('knows one file by its other names', async () => {
    await within(from, (store) => fill(store));
    const file = from.replace('sqlite:', '');
    for (const link of [symlinkSync, linkSync]) {
      link(file, to.replace('sqlite:', ''));
      expect(await copy()).toMatchObject({ code: 2, err: expect.stringContaining('the same store') as string });
      rmSync(to.replace('sqlite:', ''));
    }
  });

  it('makes no source', async () => {
    const ran = await copy();
    expect(ran).toMatchObject({ code: 1 });
    expect(ran.err).toBe(`kiln: there is no store at ${from}`);
    expect(readdirSync(folder)).toEqual([]);
    writeFileSync(from.replace('sqlite:', ''), '');
    expect((await copy()).err).toBe(`kiln: there is no store at ${from}`);
    expect(readFileSync(from.replace('sqlite:', '')).length).toBe(0);
    expect(existsSync(to.replace('sqlite:', ''))).toBe(false);
  });

  it.each<[string, (store: Store, db: Database.Database) => unknown, RegExp]>([
    [
      'a text',
      (_store, db) => db.exec(`UPDATE version SET body = replace(body, 'second', 'SECOND') WHERE version = 2`),
      /6 versions differ; the first: Patient\/p1\/_history\/2 of \S+Z has another text in the target/,
    ],
    [
      'a time',
      (_store, db) => db.exec('UPDATE version SET updated = updated + 1 WHERE seq = 36'),
      /2 versions differ; the first: Patient\/p8\/_history\/2 of \S+Z is not in the target/,
    ],
    [
      'a version too many',
      (store) => store.write([put('more', 0)]),
      /1 versions differ; the first: Patient\/more\/_history\/1 of \S+Z is not in the source/,
    ],
    [
      'a content',
      (_store, db) => db.exec(`UPDATE blob_piece SET bytes = x'00' WHERE length(bytes) = 1`),
      /1 contents differ; the first: the content binary\/1 is another in the target/,
    ],
  ])('tells of %s that is not the same', async (_what, alter, message) => {
    await within(from, (store) => fill(store));
    expect((await copy()).code).toBe(0);
    await within(to, async (store) => {
      const db = new Database(to.replace('sqlite:', ''));
      await alter(store, db);
      db.close();
    });
    const ran = await copy();
    expect(ran).toMatchObject({ code: 1 });
    expect(ran.out).not.toContain('equal');
    expect(ran.err).toMatch(message);
  });

  it('does not hand on a content that the source has damaged', async () => {
    await within(from, (store) => fill(store));
    const db = new Database(from.replace('sqlite:', ''));
    db.exec(`UPDATE blob_piece SET bytes = x'00' WHERE length(bytes) = 1`);
    db.close();
    const ran = await copy();
    expect(ran).toMatchObject({ code: 1 });
    expect(ran.err).toMatch(/the content binary\/1 of the source has another hash than it had when it was stored/);
  });
});

describe('a copy that is ended in the middle', { timeout: 120_000 }, () => {
  const AMOUNT = 12_000;
  const countOf = (url: string): Promise<number> =>
    within(url, async (store) => (await store.history({ count: 0 })).total);

  /** So many that there is time to end it. */
  async function fillWithMany(): Promise<void> {
    await within(from, async (store) => {
      await fill(store);
      for (let n = 40; n < AMOUNT; n += 1000) {
        const ids = Array.from({ length: 1000 }, (_, i) => `m${(n + i) % 7000}`);
        const versions = await store.readMany(ids.map((id) => ({ type: 'Patient', id })));
        await store.write(ids.map((id, i) => put(id, versions[i]?.version ?? 0, 'x'.repeat(500))));
      }
    });
  }

  /** Begins a copy, and sends it this signal when a part is there. */
  async function interrupt(signal: NodeJS.Signals) {
    const kiln = startKiln(['copy', '--from', from, '--to', to]);
    const ended = new Promise<NodeJS.Signals | number | null>((resolve) =>
      kiln.child.once('exit', (code, by) => resolve(by ?? code)),
    );
    const file = to.replace('sqlite:', '');
    for (let isIn = false; !isIn; await sleep(5)) {
      if (kiln.child.exitCode !== null) throw new Error(`it ended too early: ${kiln.output.err}`);
      isIn = existsSync(file) && hasVersions(file);
    }
    kiln.child.kill(signal);
    return { end: await ended, ...kiln.output };
  }

  function hasVersions(file: string): boolean {
    const db = new Database(file, { readonly: true });
    try {
      return db.prepare('SELECT 1 FROM version LIMIT 1').get() !== undefined;
    } catch {
      return false;
    } finally {
      db.close();
    }
  }

  it.each(['SIGKILL', 'SIGINT'] as const)('by %s goes on', async (signal) => {
    await fillWithMany();
    const total = await countOf(from);
    const { end, err } = await interrupt(signal);
    expect(end).toBe({ SIGKILL: 'SIGKILL', SIGINT: 130 }[signal]);
    if (signal !== 'SIGKILL') expect(err).toBe(`kiln: stopped by ${signal}; the same command goes on from here\n`);
    const before = await countOf(to);
    expect(before).toBeGreaterThan(0);
    expect(before).toBeLessThan(total);
    const ran = await copy();
    expect(ran).toMatchObject({ code: 0 });
    expect(ran.err).toContain(`${before} versions are there already`);
    expect(await read(to)).toEqual(await read(from));
  });
});
