import { Collection, MongoClient, type Db } from 'mongodb';
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';

import type { IndexEntry } from '../../runtime/indexing/entry.js';
import { openMongoStore } from '../../runtime/store/mongo/mongo-store.js';
import { openCopies } from '../../runtime/store/mongo/write/single/copies.js';
import { expecting, type HistoryQuery, type Store } from '../../runtime/store/store.js';
import { EVENTUALLY } from '../eventually.js';
import { describeOnMongod } from '../mongod/for-tests.js';
import { startChild } from './durability/children.js';
import { onEmptiedMongo } from './on-mongo.js';
import { deletion, put, useStore } from './subject.js';

describeOnMongod('updates of one resource on MongoDB, without a transaction', () => {
  const subject = useStore(onEmptiedMongo);
  let store: Store;
  let client: MongoClient;
  let db: Db;
  beforeEach(() => {
    store = subject.store;
    client = new MongoClient(subject.url, { readConcern: { level: 'majority' } });
    db = client.db();
  });
  afterEach(async () => {
    vi.restoreAllMocks();
    await client.close();
  });

  const history = () => db.collection<{ _id: string; [field: string]: unknown }>('history');
  const names = async (query: Omit<HistoryQuery, 'count'>): Promise<string[]> => {
    const { versions, total } = await store.history({ ...query, count: 50 });
    expect(total).toBe(versions.length);
    return versions.map(({ id, version }) => `${id}${version}`);
  };

  /** What a process leaves that dies between the copy and the replacement: a copy of what is current. */
  async function leaveCopy(id: string, until = Date.now()): Promise<void> {
    const current = await db.collection<{ _id: string; version: number }>('resource').findOne({ _id: `Patient/${id}` });
    const { _id, ...fields } = current!;
    await history().insertOne({ _id: `${_id}/${current!.version}`, ...fields, until: new Date(until), pending: true });
  }

  it('update, deletion and revival are a copy and a replacement', async () => {
    const commands: string[] = [];
    const seen = await openMongoStore(subject.url, {
      onCommand(name, command) {
        if (/^(?:resource|history)$/.test(String(command[name]))) commands.push(`${name} ${command[name]}`);
      },
    });
    commands.length = 0;
    await seen.write([put('a', 0, 'one')]);
    await seen.write([put('a', 1, 'two')]);
    await seen.write([deletion('a', 2)]);
    await seen.write([put('a', 3, 'four')]);
    // Marks of finished copies go when they go.
    const own = commands.filter((each) => each !== 'update history');
    const each = ['find resource', 'insert history', 'update resource'];
    expect(own).toEqual(['insert resource', ...each, ...each, ...each]);
    expect(await names({ type: 'Patient', id: 'a' })).toEqual(['a4', 'a3', 'a2', 'a1']);
    await seen.close();
    expect(await history().countDocuments({ pending: { $exists: true } })).toBe(0);
  });

  it('what was read before is not read again, and is not trusted either', async () => {
    const commands: string[] = [];
    const onCommand = (name: string): void => void commands.push(name);
    const seen = subject.keep(await openMongoStore(subject.url, { onCommand }));
    await store.write([put('a', 0, 'one')]);
    await seen.read('Patient', 'a');
    commands.length = 0;
    await seen.write([put('a', 1, 'two')]);
    expect(commands.slice(0, 2)).toEqual(['insert', 'update']);
    await seen.read('Patient', 'a');
    await store.write([put('a', 2, 'three')]);
    await expect(seen.write([put('a', 2, 'mine')])).rejects.toMatchObject({ name: 'VersionConflict', actual: 3 });
    await seen.read('Patient', 'a');
    const contained = [{ type: 'Basic', id: 'm', entries: [] }];
    await store.write([{ ...put('a', 3, 'four'), contained }]);
    await expect(seen.write([put('a', 3, 'mine')])).rejects.toMatchObject({ name: 'VersionConflict', actual: 4 });
    expect(await names({})).toEqual(['a4', 'a3', 'a2', 'a1']);
    expect((await store.readVersion('Patient', 'a', 3))?.json).toContain('three');
  });

  it('index entries are replaced, and what is deleted has none', async () => {
    const entries = (code: string): IndexEntry[] => [{ kind: 'token', param: 'code', code }];
    const find = async (code: string): Promise<number> => {
      const where = { param: 'code', any: [{ is: 'token', code }] } as const;
      return (await store.find({ type: 'Patient', where, sort: [], count: 0, total: 'accurate' })).total!;
    };
    await store.write([put('a', 0, 'x', entries('one'))]);
    await store.write([put('a', 1, 'x', entries('two'))]);
    expect([await find('one'), await find('two')]).toEqual([0, 1]);
    await store.write([deletion('a', 2)]);
    expect([await find('one'), await find('two')]).toEqual([0, 0]);
    expect(await store.counts()).toEqual(new Map());
  });

  describe('a copy of what is current still', () => {
    beforeEach(async () => {
      await store.write([put('a', 0, 'one'), put('b', 0)]);
      await store.write([put('a', 1, 'two')]);
      await leaveCopy('a');
    });

    it('is in no history, no total and no walk', async () => {
      const { lastUpdated } = (await store.read('Patient', 'a'))!;
      expect(await names({})).toEqual(['a2', 'b1', 'a1']);
      expect(await names({ type: 'Patient' })).toEqual(['a2', 'b1', 'a1']);
      expect(await names({ types: ['Patient'] })).toEqual(['a2', 'b1', 'a1']);
      expect(await names({ type: 'Patient', id: 'a' })).toEqual(['a2', 'a1']);
      expect(await names({ since: lastUpdated })).toEqual(['a2']);
      expect(await names({ at: { from: 0, to: Date.now() } })).toEqual(['a2', 'b1', 'a1']);
      const { versions } = await store.scan(undefined, 50);
      expect(versions.map(({ id, version, isCurrent }) => [id + version, isCurrent])).toEqual([
        ['a1', false],
        ['b1', true],
        ['a2', true],
      ]);
      const pages: string[] = [];
      let after: string | undefined;
      do {
        const page = await store.history({ count: 1, ...(after !== undefined && { after }) });
        pages.push(...page.versions.map(({ id, version }) => id + version));
        after = page.next;
      } while (after !== undefined);
      expect(pages).toEqual(['a2', 'b1', 'a1']);
    });

    it.each([
      ['alone', [put('a', 2, 'three')]],
      ['with others', [put('a', 2, 'three'), put('b', 1)]],
      ['as its deletion', [deletion('a', 2)]],
    ])('is replaced by the next write, %s', async (_, changes) => {
      const two = await store.read('Patient', 'a');
      const [three] = await store.write(changes);
      expect(three?.version).toBe(3);
      expect(await store.readVersion('Patient', 'a', 2)).toEqual(two);
      const copy = await history().findOne({ _id: 'Patient/a/2' });
      expect(copy).toMatchObject({ until: new Date(three!.lastUpdated) });
      expect(copy).not.toHaveProperty('pending');
      expect(await names({ type: 'Patient', id: 'a' })).toEqual(['a3', 'a2', 'a1']);
    });

    it('is no past version that could be removed, and goes with its resource', async () => {
      expect(await store.expunge({ type: 'Patient', id: 'a', version: 2, limit: 9, report: 'Patient' })).toMatchObject({ count: 0, reported: [] }); // prettier-ignore
      const past = await store.expunge({ type: 'Patient', previous: true, limit: 9, report: 'Patient' });
      expect(past.reported.map(({ version }) => version)).toEqual([1]);
      expect(await names({})).toEqual(['a2', 'b1']);
      const all = await store.expunge({ type: 'Patient', id: 'a', current: true, limit: 9, report: 'Patient' });
      expect(all.reported.map(({ version }) => version)).toEqual([2]);
      expect(await names({})).toEqual(['b1']);
      expect(await history().countDocuments()).toBe(0);
    });

    it('stays when it is old; of what was replaced the mark goes, of what was expunged the copy', async () => {
      await history().updateMany({}, { $set: { pending: true, until: new Date(0.5e12) } });
      await history().insertOne({ ...(await history().findOne({ _id: 'Patient/a/1' })), _id: 'Patient/c/1', id: 'c' });
      const other = await openMongoStore(subject.url, { cleanInterval: 20 });
      subject.keep(other);
      const marks = async () => (await history().find().sort({ _id: 1 }).toArray()).map(({ _id, pending }) => [_id, pending]); // prettier-ignore
      await expect.poll(marks, EVENTUALLY).toEqual([
        ['Patient/a/1', undefined],
        ['Patient/a/2', true],
      ]);
    });
  });

  it('a process killed between the copy and the replacement leaves what was there', { timeout: 60_000 }, async () => {
    await store.write([put('a', 0, 'old')]);
    const child = await startChild(subject.url, 'updateFault', 'history');
    child.begin();
    expect(await child.ended).toBe('SIGKILL');
    expect(await history().findOne({ _id: 'Patient/a/1' })).toMatchObject({ pending: true });
    for (const look of [store, await subject.reopen()]) {
      expect(await look.history({ count: 9 })).toMatchObject({ total: 1, versions: [{ id: 'a', version: 1 }] });
      expect((await look.read('Patient', 'a'))?.json).toContain('old');
    }
    expect(await store.write([put('a', 1, 'new')])).toMatchObject([{ version: 2 }]);
    expect(await names({})).toEqual(['a2', 'a1']);
  });

  it('a process killed after the replacement has done it', { timeout: 60_000 }, async () => {
    await store.write([put('a', 0, 'old')]);
    const child = await startChild(subject.url, 'updateFault', 'committed');
    child.begin();
    expect(await child.ended).toBe('SIGKILL');
    expect(await names({})).toEqual(['a2', 'a1']);
    expect((await store.read('Patient', 'a'))?.json).toContain('new');
  });

  describe('between the copy and the replacement another process', () => {
    let other: Store;
    beforeEach(async () => {
      other = await subject.reopen();
      await store.write([put('a', 0, 'one')]);
    });

    /** Does something when a document is about to be replaced. */
    function meanwhile(work: () => Promise<unknown>): void {
      const original = Collection.prototype.replaceOne;
      vi.spyOn(Collection.prototype, 'replaceOne').mockImplementationOnce(async function (this: Collection, ...args) {
        await work();
        return original.apply(this, args);
      });
    }

    it('updates: one of them is refused, and nothing is lost', async () => {
      meanwhile(() => other.write([put('a', 1, 'theirs')]));
      await expect(store.write([put('a', 1, 'mine')])).rejects.toMatchObject({ name: 'VersionConflict', actual: 2 });
      const [two, one] = (await store.history({ count: 9 })).versions;
      expect([two?.json, one?.json]).toEqual([expect.stringContaining('theirs'), expect.stringContaining('one')]);
      expect(await names({})).toEqual(['a2', 'a1']);
      const until = new Date(two!.lastUpdated);
      expect(await history().find().toArray()).toMatchObject([{ _id: 'Patient/a/1', until }]);
      expect(await history().countDocuments({ pending: true })).toBe(0);
    });

    it('deletes: the same', async () => {
      meanwhile(() => other.write([deletion('a', 1), put('b', 0)]));
      await expect(store.write([put('a', 1, 'mine')])).rejects.toMatchObject({ name: 'VersionConflict', actual: 2 });
      expect(await names({ type: 'Patient', id: 'a' })).toEqual(['a2', 'a1']);
    });

    it('amends what is to be replaced: it is refused, and so is the next that knows nothing of it', async () => {
      const { json } = (await store.read('Patient', 'a'))!;
      meanwhile(async () =>
        expect(await other.amend({ ...put('a', 0, 'amended'), version: 1, before: json! })).toBe(true),
      );
      const conflict = { name: 'VersionConflict', expected: 1, actual: 1 };
      await expect(store.write([put('a', 1, 'two')])).rejects.toMatchObject(conflict);
      expect(await history().countDocuments()).toBe(0);
      await expect(store.write([put('a', 1, 'two')])).rejects.toMatchObject(conflict);
      const read = await store.read('Patient', 'a');
      expect(read?.json).toContain('amended');
      expect(await store.write([{ ...put('a', 1, 'two'), ...expecting(read) }])).toMatchObject([{ version: 2 }]);
      expect((await store.readVersion('Patient', 'a', 1))?.json).toContain('amended');
      expect(await names({})).toEqual(['a2', 'a1']);
    });

    it('amends again what was amended when it was read: the same', async () => {
      for (const [before, after] of [['one', 'two'], ['two', 'three']] as const) {
        const { json } = (await store.read('Patient', 'a'))!;
        expect(json).toContain(before);
        await other.amend({ ...put('a', 0, after), version: 1, before: json! });
      } // prettier-ignore
      const read = (await store.read('Patient', 'a'))!;
      meanwhile(() => other.amend({ ...put('a', 0, 'four'), version: 1, before: read.json! }));
      const update = { ...put('a', 1, 'new'), ...expecting(read) };
      await expect(store.write([update])).rejects.toMatchObject({ name: 'VersionConflict', expected: 1, actual: 1 });
      await store.write([{ ...update, amended: 3 }]);
      expect((await store.readVersion('Patient', 'a', 1))?.json).toContain('four');
    });

    it('expunges: nothing of it is left', async () => {
      meanwhile(() => other.expunge({ type: 'Patient', id: 'a', current: true, limit: 9 }));
      await expect(store.write([put('a', 1, 'mine')])).rejects.toMatchObject({ name: 'VersionConflict', actual: 0 });
      expect([await names({}), await history().countDocuments()]).toEqual([[], 0]);
    });

    it('expunges and creates anew: only the new one is there', async () => {
      meanwhile(async () => {
        await other.expunge({ type: 'Patient', id: 'a', current: true, limit: 9 });
        await other.write([put('a', 0, 'anew')]);
      });
      await store.write([put('a', 1, 'mine')]);
      expect((await store.readVersion('Patient', 'a', 1))?.json).toContain('anew');
      expect(await names({})).toEqual(['a2', 'a1']);
    });

    it('expunges the version that was replaced by another: it stays expunged', async () => {
      await store.read('Patient', 'a');
      await other.write([put('a', 1, 'theirs')]);
      await other.expunge({ type: 'Patient', id: 'a', version: 1, limit: 9 });
      await expect(store.write([put('a', 1, 'mine')])).rejects.toMatchObject({ name: 'VersionConflict', actual: 2 });
      expect([await names({}), await history().countDocuments()]).toEqual([['a2'], 0]);
    });

    it('ends, which expunged the version before: the mark that it removes is that of its own copy', async () => {
      await store.read('Patient', 'a');
      await other.write([put('a', 1, 'theirs')]);
      await other.expunge({ type: 'Patient', id: 'a', version: 1, limit: 9 });
      meanwhile(() => other.close());
      await expect(store.write([put('a', 1, 'mine')])).rejects.toMatchObject({ name: 'VersionConflict', actual: 2 });
      expect([await names({}), await history().countDocuments()]).toEqual([['a2'], 0]);
    });

    it('finishes the copy of another resource at the very time of a late copy: the mark of that stays', async () => {
      await other.write([put('b', 0)]);
      await other.write([put('a', 1, 'theirs')]);
      await other.write([put('b', 1, 'theirs')]);
      const late = (await history().findOne({ _id: 'Patient/a/1' }))!;
      const { until } = (await history().findOne({ _id: 'Patient/b/1' }))!;
      await history().replaceOne({ _id: late._id }, { ...late, until, pending: true, by: 'who comes too late' });
      await other.close();
      expect(await history().findOne({ _id: 'Patient/b/1', pending: true })).toBeNull();
      expect(await history().findOne({ _id: 'Patient/a/1', pending: true })).not.toBeNull();
    });

    it('cleans up what it saw before: a copy that was made since stays', async () => {
      const [now, collections] = [
        Date.now(),
        { resource: db.collection('resource'), history: db.collection('history') },
      ];
      await other.write([put('a', 1, 'two')]);
      const copy = (await history().findOne({ _id: 'Patient/a/1' }))!;
      await other.expunge({ type: 'Patient', id: 'a', current: true, limit: 9 });
      await history().insertOne({ ...copy, until: new Date(now - 500_000), pending: true });
      const original = Collection.prototype.deleteMany;
      const remove = vi.spyOn(Collection.prototype, 'deleteMany').mockImplementationOnce(async function (
        this: Collection,
        ...args
      ) {
        await history().replaceOne({ _id: copy._id }, { ...copy, pending: true });
        return original.apply(this, args);
      });
      await openCopies(collections as unknown as Parameters<typeof openCopies>[0], () => now, 5000).clean();
      expect(remove).toHaveBeenCalledOnce();
      expect(await history().countDocuments({ _id: 'Patient/a/1' })).toBe(1);
    });

    it('finds what is within it: that goes with the version', async () => {
      const contained = [{ type: 'Basic', id: 'm', entries: [] }];
      meanwhile(() => other.reindex([{ type: 'Patient', id: 'a', version: 1, entries: [], contained }]));
      expect(await store.write([put('a', 1, 'two')])).toMatchObject([{ version: 2 }]);
      expect(await db.collection('resource').countDocuments()).toBe(1);
    });

    it('replaces index entries: the update has its own', async () => {
      meanwhile(() => other.reindex([{ type: 'Patient', id: 'a', version: 1, entries: [] }]));
      expect(await store.write([put('a', 1, 'two')])).toMatchObject([{ version: 2 }]);
      expect(await names({})).toEqual(['a2', 'a1']);
    });
  });
});
