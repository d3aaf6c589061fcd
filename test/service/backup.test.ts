import Database from 'better-sqlite3';
import {
  copyFileSync,
  existsSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Readable } from 'node:stream';
import { afterAll, describe, expect, it } from 'vitest';

import { openSqliteStore } from '../../runtime/store/sqlite/sqlite-store.js';
import { startKiln } from './kiln-process.js';

// Each test starts processes, from the sources, which takes seconds where others compete for the processor.
describe('kiln backup', { timeout: 120_000 }, () => {
  const folder = mkdtempSync(join(tmpdir(), 'kiln-backup-'));
  const store = `sqlite:${join(folder, 'kiln.db')}`;
  const copy = join(folder, 'copy.db');
  afterAll(() => rmSync(folder, { recursive: true }));

  const run = async (...args: string[]) => {
    const kiln = startKiln(args);
    return { code: await kiln.ended, ...kiln.output };
  };

  it('copies one instant of a store that is written to, and the copy serves', async () => {
    const kiln = startKiln(['serve', '--port', '0', '--store', store, '--log-level', 'error']);
    const base = await kiln.started;
    const versions = new Map<string, string[]>();
    const acknowledged: string[] = [];
    const refused: number[] = [];
    let writing = true;
    const writer = (async () => {
      for (let i = 0; writing && i < 20_000; i++) {
        const id = `b${i % 100}`;
        const body = JSON.stringify({ resourceType: 'Basic', id, code: { text: `t${i}` } });
        const headers = { 'content-type': 'application/fhir+json' };
        const answer = await fetch(`${base}/Basic/${id}`, { method: 'PUT', headers, body });
        if (!answer.ok) refused.push(answer.status);
        const texts = versions.get(id) ?? [];
        texts.push(await answer.text());
        versions.set(id, texts);
        acknowledged.push(`${id}/${texts.length}`);
      }
    })();
    while (acknowledged.length < 300) await new Promise((resolve) => setTimeout(resolve, 20));
    const before = acknowledged.length;
    const result = await run('backup', copy, '--store', store);
    expect(result).toMatchObject({ code: 0, err: '' });
    expect(result.out).toMatch(/copy.db: [\d.]+ [kM]B in [\d.]+ s/);
    while (acknowledged.length < before + 20) await new Promise((resolve) => setTimeout(resolve, 20));
    writing = false;
    await writer;
    expect(refused).toEqual([]);
    kiln.child.kill('SIGTERM');
    expect(await kiln.ended).toBe(0);

    const restored = openSqliteStore(`sqlite:${copy}`);
    // What it has is a prefix of what was acknowledged, whole, and at least all from before it began.
    const present: boolean[] = [];
    for (const name of acknowledged) {
      const [id = '', version = ''] = name.split('/');
      const found = await restored.readVersion('Basic', id, Number(version));
      present.push(found !== undefined);
      if (found !== undefined) expect(found.json).toBe(versions.get(id)?.[Number(version) - 1]);
    }
    const end = present.indexOf(false) < 0 ? present.length : present.indexOf(false);
    expect(end).toBeGreaterThanOrEqual(before);
    expect(present.slice(end)).not.toContain(true);
    await restored.close();

    const served = startKiln(['serve', '--port', '0', '--store', `sqlite:${copy}`, '--log-level', 'error']);
    const answer = await fetch(`${await served.started}/Basic/b0/_history/1`);
    expect(await answer.text()).toBe(versions.get('b0')?.[0]);
    served.child.kill('SIGTERM');
    expect(await served.ended).toBe(0);
  });

  it.each(['kiln.db-journal', 'kiln.db-wal', 'kiln.db-shm', 'copy.db '])(
    'under the name %j SQLite deleted the copy, or nothing could open it: it is refused',
    async (name) => {
      await openSqliteStore(store).close();
      const before = readdirSync(folder);
      const result = await run('backup', join(folder, name), '--store', store);
      expect(result).toMatchObject({ code: 1, out: '' });
      expect(result.err).toMatch(/the name of a backup, ".*", may not/);
      expect(readdirSync(folder)).toEqual(before);
    },
  );

  it('a folder that is missing was told as a store that does not work', async () => {
    await openSqliteStore(store).close();
    const { code, err } = await run('backup', join(folder, 'none', 'x.db'), '--store', store);
    expect([code, err.trim()]).toEqual([1, `kiln: there is no folder ${join(folder, 'none')} to put the backup into`]);
  });

  it('writes over nothing, and makes no store to copy it', async () => {
    writeFileSync(join(folder, 'there.db'), '');
    expect(await run('backup', join(folder, 'there.db'), '--store', store)).toMatchObject({
      code: 1,
      err: expect.stringContaining('there already') as string,
    });
    expect(await run('backup', join(folder, 'x.db'), '--store', `sqlite:${folder}/none.db`)).toMatchObject({
      code: 1,
      err: expect.stringContaining('there is no store') as string,
    });
  });

  describe('restored', () => {
    const made = join(folder, 'made.db');
    const there = join(folder, 'back.db');
    const restore = (file: string, to = there) => run('restore', file, '--store', `sqlite:${to}`);

    it('is the store again, which is left as it was where there is one', async () => {
      const original = openSqliteStore(`sqlite:${made}`);
      await original.blobs.put('binary/1', Readable.from([Buffer.alloc(300_000, 1)]), 1e6);
      await original.close();
      expect(await run('backup', join(folder, 'of-made.db'), '--store', `sqlite:${made}`)).toMatchObject({ code: 0 });
      const first = await restore(join(folder, 'of-made.db'));
      expect(first).toMatchObject({ code: 0, err: '' });
      expect(first.out).toMatch(/^0 versions\n.*back.db: [\d.]+ [kM]B in [\d.]+ s$/m);
      const store = openSqliteStore(`sqlite:${there}`);
      expect((await store.blobs.list('')).map(({ key, size }) => [key, size])).toEqual([['binary/1', 300_000]]);
      await store.close();
      const before = statSync(there).mtimeMs;
      expect((await restore(join(folder, 'of-made.db'))).err).toMatch(
        /back.db is there already; restore into a new file/,
      );
      expect(statSync(there).mtimeMs).toBe(before);
    });

    it('says what is no backup, or a damaged one, and leaves no store of it', async () => {
      const text = join(folder, 'text');
      writeFileSync(text, 'x'.repeat(5000));
      const damaged = join(folder, 'damaged.db');
      copyFileSync(join(folder, 'of-made.db'), damaged);
      const bytes = readFileSync(damaged);
      bytes.fill(0xff, 4096, 3 * 4096);
      writeFileSync(damaged, bytes);
      writeFileSync(join(folder, 'nothing'), '');
      const truncated = join(folder, 'truncated.db');
      writeFileSync(truncated, readFileSync(join(folder, 'of-made.db')).subarray(0, -4096));
      const foreign = join(folder, 'foreign.db');
      new Database(foreign).exec('CREATE TABLE other (x)').close();
      // SQLite copies the rows and makes the index anew, so that only a check finds this.
      const bent = join(folder, 'bent.db');
      copyFileSync(join(folder, 'of-made.db'), bent);
      bend(bent);
      const target = join(folder, 'never.db');
      for (const [file, message] of [
        [text, /text was not restored: .*not a database/],
        [damaged, /damaged.db was not restored: .*damaged.db is damaged, take another backup: /],
        [truncated, /truncated.db was not restored: .*truncated.db is cut off: \d+ of its \d+ bytes are there/],
        [foreign, /foreign.db was not restored: .*is a SQLite file of another program/],
        [bent, /bent.db is damaged, take another backup: .*index/],
        [join(folder, 'nothing'), /there is no backup at/],
        [join(folder, 'missing'), /there is no backup at/],
      ] as const) {
        const result = await restore(file, target);
        expect(result).toMatchObject({ code: 1, out: '' });
        expect(result.err).toMatch(message);
        expect(existsSync(target)).toBe(false);
      }
    });

    it('leaves the store that is there as it was, and MongoDB untouched', async () => {
      const there = join(folder, 'there-already.db');
      writeFileSync(there, 'as it was');
      const damaged = join(folder, 'damaged.db');
      expect((await restore(damaged, there)).code).toBe(1);
      expect(readFileSync(there, 'utf8')).toBe('as it was');
      // Nothing listens there: it is refused before a connection is tried.
      const { code, err } = await run('restore', damaged, '--store', 'mongodb://127.0.0.1:1/never');
      expect([code, err]).toEqual([1, expect.stringContaining('damaged.db is damaged, take another backup')]);
    });

    it('has contents whose hashes are right, or says which is not', async () => {
      const altered = join(folder, 'altered.db');
      copyFileSync(join(folder, 'of-made.db'), altered);
      const db = new Database(altered);
      db.exec('UPDATE blob_piece SET bytes = zeroblob(length(bytes))');
      db.close();
      const result = await restore(altered, join(folder, 'wrong.db'));
      expect(result).toMatchObject({ code: 1 });
      expect(result.err).toMatch(/wrong.db: 1 contents are damaged; the first: the content binary\/1/);
    });
  });
});

/** Takes an index entry away behind the back of SQLite: the page of an index gets one cell less. */
function bend(file: string): void {
  const db = new Database(file);
  const page = db.prepare("SELECT rootpage FROM sqlite_schema WHERE type = 'index' AND tbl_name = 'blob_piece'").pluck().get() as number; // prettier-ignore
  const size = db.pragma('page_size', { simple: true }) as number;
  db.close();
  const bytes = readFileSync(file);
  const cells = (page - 1) * size + 3;
  expect(bytes.readUInt16BE(cells)).toBeGreaterThan(0);
  bytes.writeUInt16BE(bytes.readUInt16BE(cells) - 1, cells);
  writeFileSync(file, bytes);
}
