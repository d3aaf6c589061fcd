import { MongoClient } from 'mongodb';
import { mkdtempSync, readdirSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { afterAll, afterEach, beforeAll, beforeEach, expect, it } from 'vitest';

import { put } from '../../contract/subject.js';
import { openStore } from '../../contract/open-store.js';
import { withDatabase } from '../../mongod/connection-string.js';
import { findMongod } from '../../mongod/find-mongod.js';
import { describeOnMongod } from '../../mongod/for-tests.js';
import { startReplicaSet, type ReplicaSet } from '../../mongod/replica-set.js';
import { contentOf, fill, putBlob, runKiln, type Content } from './copy-subject.js';
import { startKiln } from '../../service/kiln-process.js';

/** Asks until it is refused, for a minute. */
async function eventuallyGone(ask: () => Promise<unknown>): Promise<void> {
  for (let tries = 0; tries < 60; tries++, await sleep(1000)) await ask();
}

describeOnMongod('kiln copy to MongoDB and back', () => {
  let folder: string;
  let from: string;
  let back: string;
  let mongo: string;
  // Its own: what a dead process has begun keeps its database from being dropped, for a minute.
  let set: ReplicaSet;
  let databases = 0;
  beforeAll(async () => {
    set = await startReplicaSet((await findMongod()).path);
  });
  afterAll(() => set?.stop());
  beforeEach(() => {
    folder = mkdtempSync(join(tmpdir(), 'kiln-copy-'));
    from = `sqlite:${join(folder, 'from.db')}`;
    back = `sqlite:${join(folder, 'back.db')}`;
    mongo = withDatabase(set.url, `copy${databases++}`);
  });
  afterEach(() => rmSync(folder, { recursive: true }));

  async function within<T>(
    url: string,
    action: (store: Awaited<ReturnType<typeof openStore>>) => Promise<T>,
  ): Promise<T> {
    const store = await openStore(url);
    try {
      return await action(store);
    } finally {
      await store.close();
    }
  }
  const read = (url: string): Promise<Content> => within(url, contentOf);
  const copy = (one: string, other: string) => runKiln('copy', '--from', one, '--to', other);

  it('gives the same in the same order: numbers, times, texts, contents, maps', { timeout: 60_000 }, async () => {
    const original = await within(from, async (store) => {
      await fill(store);
      await fill(store, 1);
      return contentOf(store);
    });
    const there = await copy(from, mongo);
    expect(there).toMatchObject({ code: 0, out: expect.stringContaining('the copy is equal') as string });
    const again = await copy(from, mongo);
    expect(again).toMatchObject({ code: 0, err: expect.stringContaining('80 versions are there already') as string });
    expect(await copy(mongo, back)).toMatchObject({ code: 0 });
    const returned = await read(back);
    expect(returned.versions).toEqual(original.versions);
    expect(returned.blobs).toEqual(original.blobs);
    expect(returned.maps).toEqual(original.maps);
  });

  it('is restored from a backup with contents and maps, into either store', { timeout: 120_000 }, async () => {
    const original = await within(mongo, async (store) => {
      await fill(store);
      await fill(store, 1);
      return contentOf(store);
    });
    const file = join(folder, 'backup.db');
    expect(await runKiln('backup', file, '--store', mongo)).toMatchObject({ code: 0 });
    expect(readdirSync(folder)).toEqual(['backup.db']);
    for (const target of [back, withDatabase(set.url, `restored${databases}`)]) {
      expect(await runKiln('restore', file, '--store', target)).toMatchObject({ code: 0 });
      const restored = await read(target);
      expect(restored.versions).toEqual(original.versions);
      expect(restored.blobs).toEqual(original.blobs);
      expect(restored.maps).toEqual(original.maps);
      const again = await runKiln('restore', file, '--store', target);
      expect(again).toMatchObject({ code: 1 });
      expect(again.err).toMatch(/the target is not empty|is there already/);
      expect(await read(target)).toEqual(restored);
    }
  });

  it('makes no backup of a moment that the servers do not keep', { timeout: 120_000 }, async () => {
    await within(mongo, (store) => fill(store));
    const client = new MongoClient(set.url);
    const keep = (seconds: number) =>
      client.db('admin').command({ setParameter: 1, minSnapshotHistoryWindowInSeconds: seconds });
    try {
      const { openMongoMoment } = await import('../../../runtime/store/mongo/read/moment.js');
      const moment = await openMongoMoment(mongo);
      await keep(0);
      await sleep(2000);
      await within(mongo, (store) => fill(store, 1));
      await expect(eventuallyGone(() => moment.scan(undefined, 10))).rejects.toThrow(
        /do not keep the moment of this backup any more.*minSnapshotHistoryWindowInSeconds: 3600/,
      );
      await moment.close();
    } finally {
      await keep(300);
      await client.close();
    }
  });

  it('catches up with what was written to MongoDB meanwhile', { timeout: 60_000 }, async () => {
    await within(mongo, (store) => fill(store));
    expect(await copy(mongo, back)).toMatchObject({ code: 0 });
    await within(mongo, async (store) => {
      await fill(store, 1);
      await putBlob(store, 'more', Buffer.from('more'));
    });
    // At once: what was acknowledged before is copied, however short ago.
    expect(await copy(mongo, back)).toMatchObject({ code: 0 });
    expect((await read(back)).versions).toHaveLength(80);
  });

  it('goes on after it was killed', { timeout: 120_000 }, async () => {
    await within(from, async (store) => {
      for (let n = 0; n < 8000; n += 1000) {
        await store.write(
          Array.from({ length: 1000 }, (_, i) => put(`m${(n + i) % 3000}`, Math.floor((n + i) / 3000))),
        );
      }
    });
    const kiln = startKiln(['copy', '--from', from, '--to', mongo]);
    const client = new MongoClient(mongo);
    try {
      const resources = client.db().collection('resource');
      while ((await resources.findOne({}, { readConcern: { level: 'majority' } })) === null) {
        if (kiln.child.exitCode !== null) throw new Error(`it ended too early: ${kiln.output.err}`);
        await sleep(5);
      }
    } finally {
      await client.close();
    }
    kiln.child.kill('SIGKILL');
    expect(await kiln.ended).toBeNull();
    const ran = await copy(from, mongo);
    expect([ran.code, ran.err]).toEqual([0, expect.stringContaining('there already')]);
    const there = Number(/^([0-9]+) versions are there already$/m.exec(ran.err)?.[1]);
    expect(there).toBeGreaterThan(0);
    expect(there).toBeLessThan(8000);
    expect(await copy(mongo, back)).toMatchObject({ code: 0 });
    expect(await read(back)).toEqual(await read(from));
  });

  it('names what a document of MongoDB cannot hold', { timeout: 60_000 }, async () => {
    const large = put('large', 0, 'x'.repeat(17_000_000));
    await within(from, (store) => store.write([put('before', 0), large, put('after', 0)]));
    const ran = await copy(from, mongo);
    expect(ran).toMatchObject({ code: 1, out: '' });
    expect(ran.err).toMatch(
      /^kiln: Patient\/large\/_history\/1: The resource .* does not fit into a document of MongoDB/m,
    );
    // What was committed before it stays, and the copy can go on elsewhere.
    expect((await read(mongo)).versions.map(({ id }) => id)).toEqual(['before']);
    expect(await copy(from, back)).toMatchObject({ code: 0 });
  });

  it('makes no source', { timeout: 60_000 }, async () => {
    const ran = await copy(mongo, back);
    expect(ran).toMatchObject({ code: 1, out: '' });
    expect(ran.err).toMatch(/^kiln: the database "\S+" holds no data of Kiln$/);
    const client = new MongoClient(set.url);
    try {
      const { databases } = await client.db().admin().listDatabases({ nameOnly: true });
      expect(databases.map(({ name }) => name)).not.toContain(new URL(mongo).pathname.slice(1));
    } finally {
      await client.close();
    }
  });
});
