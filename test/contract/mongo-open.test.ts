import { MongoClient } from 'mongodb';
import { afterEach, describe, expect, it } from 'vitest';

import { openMongoStore } from '../../runtime/store/mongo/mongo-store.js';
import { SCHEMA_VERSION } from '../../runtime/store/mongo/write/prepare.js';
import { databaseOf } from '../../runtime/store/mongo/connect.js';
import type { MongoOptions } from '../../runtime/store/mongo/settings.js';
import type { Store } from '../../runtime/store/store.js';
import { startFakeServer, type FakeServer } from '../mongod/fake-server.js';
import { describeOnMongod, mongodUrl, newDatabase } from '../mongod/for-tests.js';
import { put } from './subject.js';

/** What a member of a replica set says of itself. */
const MEMBER = {
  isWritablePrimary: true,
  ismaster: true,
  setName: 'rs',
  setVersion: 1,
  maxBsonObjectSize: 16_777_216,
  maxMessageSizeBytes: 48_000_000,
  maxWriteBatchSize: 100_000,
  logicalSessionTimeoutMinutes: 30,
  minWireVersion: 0,
  maxWireVersion: 17,
};

describe('opening a MongoDB store', () => {
  let server: FakeServer | undefined;
  afterEach(async () => {
    await server?.close();
    server = undefined;
  });

  async function refusal(url: string, options: MongoOptions = {}): Promise<string> {
    const opened = await openMongoStore(url, { selectionTime: 1000, ...options }).catch((error: unknown) => error);
    expect(opened).toBeInstanceOf(Error);
    expect((opened as Error).message).not.toContain('s3cret');
    return (opened as Error).message;
  }

  /** Why a server is refused that says this of itself. */
  async function refusalOf(hello: object, more: () => object = () => ({})): Promise<string> {
    const { setName: _setName, ...member } = MEMBER;
    const said = 'setName' in hello ? { ...MEMBER, ...hello } : { ...member, ...hello };
    server = await startFakeServer(() => ({ ...said, localTime: new Date(), ...more() }));
    return refusal(`mongodb://${server.host}/x?directConnection=true`);
  }

  it('refuses a standalone server, with the command that mends it', async () => {
    const message = await refusalOf({});
    expect(message).toContain('--replSet rs0');
    expect(message).toContain("mongosh --eval 'rs.initiate()'");
  });

  it('refuses a member whose replica set was never initiated', async () => {
    const message = await refusalOf({ isreplicaset: true, ismaster: false, isWritablePrimary: false });
    expect(message).toContain("mongosh --eval 'rs.initiate()'");
    expect(message).not.toContain('--replSet');
  });

  it.each(['admin', 'config', 'local'])('refuses the database %s, which is the server’s own', async (name) => {
    server = await startFakeServer(() => ({ ...MEMBER, localTime: new Date() }));
    expect(await refusal(`mongodb://${server.host}/${name}?directConnection=true`)).toContain("is MongoDB's own");
  });

  it('names the replica set that it did not find', async () => {
    server = await startFakeServer(() => ({ ...MEMBER, setName: undefined, localTime: new Date() }));
    const message = await refusal(`mongodb://${server.host}/x?replicaSet=wanted`);
    expect(message).toMatch(/no primary of a replica set "wanted"; .*--replSet wanted/);
  });

  it('refuses a server older than 6.0', async () => {
    expect(await refusalOf({ setName: 'rs', maxWireVersion: 13 })).toMatch(/older than 6\.0/);
  });

  it.each([
    [-8000, '8.0 s ahead of'],
    [8000, '8.0 s behind'],
  ])('refuses a server whose clock differs by %i ms', async (offset, words) => {
    const localTime = (): object => ({ localTime: new Date(Date.now() + offset) });
    expect((await refusalOf({ setName: 'rs' }, localTime)).replace(/[78]\.\d s/, '8.0 s')).toContain(words);
  });

  it.each(['mongodb://127.0.0.1:1/x', 'mongodb://u:s3cret@nowhere.invalid/x'])(
    'says where it found no server, in bounded time: %s',
    // The driver itself would wait for half a minute.
    { timeout: 25_000 },
    async (url) => {
      const message = await refusal(url);
      expect(message).toMatch(/127\.0\.0\.1:1|nowhere\.invalid/);
      expect(message).toMatch(/ECONNREFUSED|ENOTFOUND|EAI_AGAIN/);
    },
  );

  it.each(['mongodb://u:s3cret@', 'mongodb://u:s3cret@h/x?w=many&tls=maybe', 'mongodb://u:s3cret@h:port/x'])(
    'repeats no password of a wrong URL: %s',
    async (url) => {
      expect(await refusal(url)).toMatch(/^the connection string of MongoDB is wrong: ./);
    },
  );

  it.each([
    ['mongodb://h', 'kiln'],
    ['mongodb://h/', 'kiln'],
    ['mongodb://u:p@h,i:2/?replicaSet=a/b', 'kiln'],
    ['mongodb://h/data?x=y', 'data'],
    ['mongodb+srv://h/d%C3%A4ta', 'däta'],
  ])('takes the database of %s to be %s', (url, name) => expect(databaseOf(url)).toBe(name));

  describeOnMongod('on a MongoDB', () => {
    const opened: Store[] = [];
    afterEach(async () => {
      for (const store of opened.splice(0)) await store.close();
    });
    async function open(url: string, options: MongoOptions = {}): Promise<Store> {
      const store = await openMongoStore(url, options);
      opened.push(store);
      return store;
    }

    it('refuses wrong credentials without repeating them', async () => {
      const url = new URL(mongodUrl() ?? '');
      const message = await refusal(
        `mongodb://someone:s3cret@${url.host}/x?authSource=admin&${url.searchParams.toString()}`,
      );
      expect(message).toMatch(/refused the user name or the password/);
    });

    it('several at once make one empty database theirs, and all serve', async () => {
      const url = newDatabase();
      const stores = await Promise.all(Array.from({ length: 6 }, () => open(url)));
      await Promise.all(stores.map((store, n) => store.write([put(`r${n}`, 0)])));
      for (const store of stores) expect(await store.counts()).toEqual(new Map([['Patient', 6]]));
    });

    it('refuses a newer schema, and another program’s database', async () => {
      const url = newDatabase();
      await (await open(url)).check();
      const client = new MongoClient(url);
      try {
        const db = client.db(databaseOf(url));
        await db
          .collection<{ _id: string }>('setting')
          .updateOne({ _id: 'schema' }, { $set: { value: SCHEMA_VERSION + 1 } });
        expect(await refusal(url)).toContain(
          `schema version ${SCHEMA_VERSION + 1}, this program knows ${SCHEMA_VERSION}; it needs a newer Kiln`,
        );
        await db.collection('setting').deleteMany({});
        expect(await refusal(url)).toMatch(/collections of another program \(.*resource/);
        expect(await db.collection('setting').countDocuments()).toBe(0);
      } finally {
        await client.close();
      }
    });

    it.each([
      ['of a layout before the first', { value: SCHEMA_VERSION - 1, migrated: SCHEMA_VERSION - 1 }],
      ['that a program had not migrated to its end', { value: SCHEMA_VERSION }],
    ])('refuses one %s, and leaves it as it is', async (_name, version) => {
      const url = newDatabase();
      await (await open(url)).write([put('r', 0)]);
      const client = new MongoClient(url);
      try {
        const setting = client.db(databaseOf(url)).collection<{ _id: string }>('setting');
        expect(await setting.find().toArray()).toEqual([
          { _id: 'schema', value: SCHEMA_VERSION, migrated: SCHEMA_VERSION },
        ]);
        await setting.replaceOne({ _id: 'schema' }, version);
        expect(await refusal(url)).toMatch(
          /written by a Kiln before 0\.1\.0 .*start the last one before 0\.1\.0 on it once/,
        );
        expect(await setting.find().toArray()).toEqual([{ _id: 'schema', ...version }]);
      } finally {
        await client.close();
      }
    });

    it('makes no database where one is expected', async () => {
      expect(await refusal(newDatabase(), { existing: true })).toMatch(/holds no data of Kiln/);
    });
  });
});
