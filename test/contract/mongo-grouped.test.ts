import { Collection, MongoBulkWriteError, MongoClient, MongoNetworkError, type Db } from 'mongodb';
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';

import { openMongoStore } from '../../runtime/store/mongo/mongo-store.js';
import type { Change, Store, StoredVersion } from '../../runtime/store/store.js';
import { describeOnMongod } from '../mongod/for-tests.js';
import { startChild } from './durability/children.js';
import { onEmptiedMongo } from './on-mongo.js';
import { deletion, put, useStore } from './subject.js';

describeOnMongod('reads and writes of one moment share commands of MongoDB', () => {
  const subject = useStore(onEmptiedMongo);
  let store: Store;
  let other: Store;
  let client: MongoClient;
  let db: Db;
  let commands: string[];
  beforeEach(async () => {
    commands = [];
    const onCommand = (name: string, command: object): void => {
      const collection = (command as Record<string, unknown>)[name];
      if (collection === 'resource' || collection === 'history') commands.push(`${name} ${collection}`);
    };
    store = subject.keep(await openMongoStore(subject.url, { onCommand }));
    other = subject.store;
    client = new MongoClient(subject.url, { readConcern: { level: 'majority' } });
    db = client.db();
    commands.length = 0;
  });
  afterEach(async () => {
    vi.restoreAllMocks();
    await client.close();
  });

  const IDS = ['a', 'b', 'c'] as const;
  const history = () => db.collection<{ _id: string; [field: string]: unknown }>('history');
  const own = () => commands.splice(0).filter((each) => each !== 'update history');
  const nameOf = ({ id, version, json }: StoredVersion): string =>
    `${id}${version} ${/"text":"(\w+)"/.exec(json ?? '')?.[1] ?? 'deleted'}`;
  const names = async (): Promise<string[]> => (await store.history({ count: 50 })).versions.map(nameOf).sort();

  /** Sends each as a write of its own, all at once; what became of each. */
  async function writeAll(...changes: readonly Change[]): Promise<string[]> {
    const results = await Promise.allSettled(changes.map((change) => store.write([change])));
    return results.map((result) =>
      result.status === 'fulfilled'
        ? nameOf(result.value[0]!)
        : ((result.reason as Error & { code?: string }).code ?? (result.reason as Error).name),
    );
  }

  /** Does something when the documents are about to be replaced, and something when all of them have been. */
  function meanwhile(before: () => Promise<unknown>, after: () => Promise<unknown> = async () => {}): void {
    const original = Collection.prototype.replaceOne;
    const all: Promise<unknown>[] = [];
    let begun: Promise<unknown> | undefined;
    let over: Promise<unknown> | undefined;
    vi.spyOn(Collection.prototype, 'replaceOne').mockImplementation(async function (this: Collection, ...args) {
      if (all.length === IDS.length || this.collectionName !== 'resource') return original.apply(this, args);
      begun ??= before();
      const replaced = begun.then(() => original.apply(this, args));
      all.push(replaced);
      await replaced;
      over ??= Promise.all(all).then(after);
      await over;
      return replaced;
    });
  }

  it('reads', async () => {
    await other.write([put('a', 0, 'one'), put('b', 0, 'two'), deletion('c', 0)]);
    const found = await Promise.all(['a', 'c', 'none', 'b', 'a'].map((id) => store.read('Patient', id)));
    expect(found.map((each) => each && nameOf(each))).toEqual(['a1 one', 'c1 deleted', undefined, 'b1 two', 'a1 one']);
    expect(own()).toEqual(['find resource']);
  });

  it('creations: one that is there is refused, the others are done', async () => {
    await other.write([put('b', 0, 'theirs')]);
    const made = await writeAll(put('a', 0, 'one'), put('b', 0, 'mine'), put('c', 0, 'three'), put('c', 0, 'four'));
    expect(made.slice(0, 2)).toEqual(['a1 one', 'VersionConflict']);
    expect(made.slice(2).sort()).toEqual(['VersionConflict', expect.stringMatching(/^c1 (?:three|four)$/)]);
    const [c] = made.filter((each) => each.startsWith('c1'));
    expect(await names()).toEqual(['a1 one', 'b1 theirs', c]);
    expect(own().filter((each) => !each.startsWith('find'))).toEqual(['insert resource']);
  });

  it('one that cannot be written as BSON fails, the others are done', async () => {
    const content = { resourceType: 'Patient', 'a\0b': 1 } as never;
    const made = await writeAll(put('a', 0, 'one'), { ...put('b', 0, 'two'), content }, put('c', 0, 'three'));
    expect([made[0], made[2]]).toEqual(['a1 one', 'c1 three']);
    expect(made[1]).not.toMatch(/^b1/);
    expect(await names()).toEqual(['a1 one', 'c1 three']);
  });

  it('what is large is written by itself', async () => {
    expect(await writeAll(put('a', 0, 'x'.repeat(40_000)), put('b', 0, 'two'), put('c', 0, 'three'))).toHaveLength(3);
    expect(own()).toEqual(['insert resource', 'insert resource']);
    expect(await names()).toHaveLength(3);
  });

  it('creations without an answer: what became of them is unknown', async () => {
    const original = Collection.prototype.insertMany;
    vi.spyOn(Collection.prototype, 'insertMany').mockImplementationOnce(async function (this: Collection, ...args) {
      await original.apply(this, args);
      throw new MongoNetworkError('gone');
    });
    expect(await writeAll(put('a', 0, 'one'), put('b', 0, 'two'))).toEqual(['store-unavailable', 'store-unavailable']);
    expect(await names()).toEqual(['a1 one', 'b1 two']);
  });

  /** Has a transaction of another program in the way of one document, until what this returns is called. */
  async function block(id: string): Promise<(isCommitted: boolean) => Promise<void>> {
    const session = client.startSession();
    session.startTransaction();
    const resource = db.collection<{ _id: string; [field: string]: unknown }>('resource');
    const document = { type: 'Patient', id, version: 1, updated: new Date(), n: 0, resource: { text: 'theirs' } };
    await resource.replaceOne({ _id: `Patient/${id}` }, document, { session, upsert: true });
    return async (isCommitted) => {
      await (isCommitted ? session.commitTransaction() : session.abortTransaction());
      await session.endSession();
    };
  }

  it.each([
    ['committed', true, 'VersionConflict'],
    ['undone', false, 'b1 mine'],
  ])('a creation waits for a transaction that is %s, and the others do not', async (_, isCommitted, outcome) => {
    const end = await block('b');
    const all = ['a', 'b', 'c'].map((id) => writeAll(put(id, 0, 'mine')));
    expect(await Promise.all([all[0], all[2]])).toEqual([['a1 mine'], ['c1 mine']]);
    await end(isCommitted);
    expect(await all[1]).toEqual([outcome]);
  });

  it('creations that the server stopped in the middle are looked for: done, unknown, or done then', async () => {
    const original = Collection.prototype.insertMany;
    vi.spyOn(Collection.prototype, 'insertMany').mockImplementationOnce(async function (this: Collection, documents) {
      await original.call(this, documents.slice(0, 2));
      await other.write([put('b', 1, 'theirs')]);
      const result = { getWriteConcernError: () => undefined } as never;
      throw new MongoBulkWriteError({ message: 'operation exceeded time limit', code: 50 } as never, result);
    });
    const made = await writeAll(put('a', 0, 'one'), put('b', 0, 'two'), put('c', 0, 'three'));
    expect(made).toEqual(['a1 one', 'store-unavailable', 'c1 three']);
    expect(await names()).toEqual(['a1 one', 'b1 two', 'b2 theirs', 'c1 three']);
  });

  describe('of what is there', () => {
    beforeEach(async () => {
      await other.write(IDS.map((id) => put(id, 0, 'one')));
      // What was read a moment ago is not read again, so that all are at the same step in the same moment.
      await Promise.all(IDS.map((id) => store.read('Patient', id)));
      own();
    });
    const updates = () => [put('a', 1, 'two'), put('b', 1, 'two'), deletion('c', 1)];
    const UPDATED = ['a1 one', 'a2 two', 'b1 one', 'b2 two', 'c1 one', 'c2 deleted'];

    it('updates: one copies what is there, and each is replaced by itself', async () => {
      expect(await writeAll(...updates())).toEqual(['a2 two', 'b2 two', 'c2 deleted']);
      expect(own()).toEqual(['insert history', ...IDS.map(() => 'update resource')]);
      expect(await names()).toEqual(UPDATED);
      await store.close();
      expect(await history().countDocuments({ pending: true })).toBe(0);
    });

    it('another process updates one of them in between: that one is refused', async () => {
      meanwhile(() => other.write([put('b', 1, 'theirs')]));
      expect(await writeAll(...updates())).toEqual(['a2 two', 'VersionConflict', 'c2 deleted']);
      expect(await names()).toEqual(UPDATED.with(3, 'b2 theirs'));
      const [theirs, copy] = [await other.read('Patient', 'b'), await history().findOne({ _id: 'Patient/b/1' })];
      expect(copy).toMatchObject({ until: new Date(theirs!.lastUpdated) });
      expect(copy).not.toHaveProperty('pending');
    });

    it('another process updates one in between, and another right afterwards: the second is done', async () => {
      meanwhile(
        () => other.write([put('b', 1, 'theirs')]),
        () => other.write([put('a', 2, 'three')]),
      );
      expect(await writeAll(...updates())).toEqual(['a2 two', 'VersionConflict', 'c2 deleted']);
      expect(await names()).toEqual([...UPDATED.with(3, 'b2 theirs'), 'a3 three'].sort());
    });

    it('another process amends one in between: that one is refused', async () => {
      const { json } = (await other.read('Patient', 'b'))!;
      meanwhile(() => other.amend({ ...put('b', 0, 'amended'), version: 1, before: json! }));
      expect(await writeAll(...updates())).toEqual(['a2 two', 'VersionConflict', 'c2 deleted']);
      expect(await names()).toEqual(UPDATED.with(2, 'b1 amended').toSpliced(3, 1));
      expect(await history().countDocuments({ _id: 'Patient/b/1' })).toBe(0);
    });

    it('another process expunges one in between: nothing of it is left', async () => {
      meanwhile(() => other.expunge({ type: 'Patient', id: 'b', current: true, limit: 9 }));
      expect(await writeAll(...updates())).toEqual(['a2 two', 'VersionConflict', 'c2 deleted']);
      expect(await names()).toEqual(UPDATED.filter((each) => !each.startsWith('b')));
    });

    it.each([
      ['committed', true, 'b2 two'],
      ['undone', false, 'b2 two'],
    ])('an update waits for a transaction that is %s, and the others do not', async (_, isCommitted, outcome) => {
      const end = await block('b');
      const all = updates().map((each) => writeAll(each));
      expect(await Promise.all([all[0], all[2]])).toEqual([['a2 two'], ['c2 deleted']]);
      await end(isCommitted);
      expect(await all[1]).toEqual([outcome]);
      expect(await names()).toEqual(isCommitted ? UPDATED.with(2, 'b1 theirs') : UPDATED);
    });

    it.each([
      ['history', []],
      ['committed', [expect.stringMatching('2 new')]],
    ])('a process killed at the step "%s" leaves each whole', { timeout: 60_000 }, async (step, replaced) => {
      const child = await startChild(subject.url, 'updatesFault', step);
      child.begin();
      expect(await child.ended).toBe('SIGKILL');
      expect(await history().countDocuments({ pending: true })).toBe(3);
      // The others were perhaps on their way.
      const current = await other.readMany(IDS.map((id) => ({ type: 'Patient', id })));
      const later = current.map((each) => nameOf(each!)).filter((each) => !each.endsWith('1 one'));
      expect(later).toEqual(expect.arrayContaining(replaced));
      if (replaced.length === 0) expect(later).toEqual([]);
      const left = [...IDS.map((id) => `${id}1 one`), ...later].sort();
      for (const look of [store, await subject.reopen()]) {
        const { versions, total } = await look.history({ count: 9 });
        expect([versions.map(nameOf).sort(), total]).toEqual([left, left.length]);
      }
      const next = await writeAll(...current.map((each) => put(each!.id, each!.version, 'next')));
      expect(next).toEqual(current.map((each) => `${each!.id}${each!.version + 1} next`));
      expect(await names()).toHaveLength(left.length + 3);
    });

    it('without an answer what became of them is unknown, and the next write finds what is there', async () => {
      meanwhile(
        async () => {},
        () => Promise.reject(new MongoNetworkError('gone')),
      );
      expect(await writeAll(...updates())).toEqual(['store-unavailable', 'store-unavailable', 'store-unavailable']);
      expect(await names()).toEqual(UPDATED);
      expect(await writeAll(put('a', 2, 'three'))).toEqual(['a3 three']);
      expect(await names()).toContain('a2 two');
    });
  });

  it(
    'two processes update the same few at once: what each was answered is in history',
    { timeout: 60_000 },
    async () => {
      await other.write(IDS.map((id) => put(id, 0, 'begin')));
      const answered: string[] = [];
      const versions = new Map<string, number>(IDS.map((id) => [id, 1]));
      for (let round = 0; round < 40; round++) {
        const tries = [store, other].flatMap((each, process) =>
          IDS.map(async (id) => {
            const [stored] = await each.write([put(id, versions.get(id)!, `r${round}p${process}`)]);
            answered.push(nameOf(stored!));
          }),
        );
        const results = await Promise.allSettled(tries);
        const refused = results.flatMap((each) => (each.status === 'rejected' ? [(each.reason as Error).name] : []));
        expect(refused).toEqual(IDS.map(() => 'VersionConflict'));
        for (const id of IDS) versions.set(id, versions.get(id)! + 1);
      }
      const { versions: all, total } = await store.history({ count: 500 });
      expect(total).toBe(3 * 41);
      const written = all.filter(({ version }) => version > 1).map(nameOf);
      expect(written.sort()).toEqual(answered.sort());
    },
  );
});
