import { MongoClient, type Collection, type Document } from 'mongodb';
import { afterEach, beforeEach, expect, it } from 'vitest';

import type { Contained } from '../../runtime/indexing/contained.js';
import type { ResourceDocument } from '../../runtime/store/mongo/bson/documents.js';
import { openMongoStore } from '../../runtime/store/mongo/mongo-store.js';
import type { Put, Store } from '../../runtime/store/store.js';
import { describeOnMongod } from '../mongod/for-tests.js';
import { of, query, token, uri, walk } from './search/behaviour-search-helpers.js';
import { onMongo } from './on-mongo.js';
import { put, useStore } from './subject.js';

describeOnMongod('what walks through all versions in MongoDB', () => {
  const subject = useStore(onMongo);

  it('reads no document of what is within resources', async () => {
    const commands: Document[] = [];
    const onCommand = (_name: string, command: Document): void => {
      if (command['find'] === 'resource') commands.push(command);
    };
    const store = subject.keep(await openMongoStore(subject.url, { onCommand }));
    const contained = Array.from({ length: 200 }, (_, n) => ({ type: 'Drug', id: `m${n}`, entries: [] }));
    const ids = ['a', 'b', 'c', 'd', 'e', 'f'];
    for (const id of ids) await store.write([{ ...put(id, 0, 'x', [], 'Order'), contained }]);
    const types = ['Order', ...Array.from({ length: 20 }, (_, n) => `T${n}`)];
    const first = await store.history({ count: 2 });
    const scanned = await store.scan(undefined, 2);
    const pages = [
      first,
      await store.history({ count: 2, after: first.next! }),
      await store.history({ count: 2, types }),
      await store.history({ count: 2, since: 0 }),
      scanned,
      await store.scan(scanned.next, 2),
    ];
    expect(pages.map(({ versions }) => versions.map(({ id }) => id).join(''))).toEqual([
      'fe',
      'dc',
      'fe',
      'fe',
      'ab',
      'cd',
    ]);
    const client = new MongoClient(subject.url);
    try {
      expect(commands).toHaveLength(pages.length);
      for (const { find, filter, sort, hint, limit, projection } of commands) {
        const asked = { explain: { find, filter, sort, hint, limit, projection }, verbosity: 'executionStats' };
        const { executionStats: stats } = await client.db().command(asked);
        // One more than the page, and those of its first instant that were on the page before; and a look behind what is within each.
        expect(stats.totalDocsExamined).toBeLessThanOrEqual(4);
        expect(stats.totalKeysExamined).toBeLessThanOrEqual(12);
      }
    } finally {
      await client.close();
    }
  });
});

describeOnMongod('reindexing on MongoDB what has others within it', () => {
  const subject = useStore(onMongo);

  it(
    'takes a few resources at a time, and leaves out those that do not fit any more',
    { timeout: 60_000 },
    async () => {
      let commits = 0;
      const onCommand = (name: string): void => void (commits += name === 'commitTransaction' ? 1 : 0);
      const store = subject.keep(await openMongoStore(subject.url, { onCommand }));
      const within = (code: string, count = 2): Contained[] =>
        Array.from({ length: count }, (_, n) => ({ type: 'Drug', id: `m${n}`, entries: [of('code', token(code))] }));
      const ids = Array.from({ length: 120 }, (_, n) => `o${n}`);
      await store.write(ids.map((id) => ({ ...put(id, 0, 'x', [], 'Order'), contained: within('old') })));
      const item = { type: 'Order', version: 1, entries: [] };
      commits = 0;
      expect(await store.reindex(ids.map((id) => ({ ...item, id, contained: within('new') })))).toBe(120);
      expect(commits).toBe(3);
      const drugs = async (code: string) => {
        const where = { param: 'code', any: [{ is: 'token', code }] } as const;
        return (await store.find(query('#Drug', { where, count: 0, total: 'accurate' }))).total;
      };
      expect([await drugs('new'), await drugs('old')]).toEqual([240, 0]);
      commits = 0;
      const few = ids.slice(0, 3).map((id) => ({ ...item, id, contained: within('many', 600) }));
      expect([await store.reindex(few), commits]).toEqual([3, 3]);
      const large = of('url', uri('x'.repeat(17 * 1024 * 1024)));
      const faulty = ids.map((id, n) => ({ ...item, id, entries: n === 7 ? [large] : [], contained: within('last') }));
      await expect(store.reindex(faulty)).rejects.toMatchObject({ status: 413 });
      expect([await drugs('last'), await drugs('new'), await drugs('many')]).toEqual([238, 2, 0]);
    },
  );
});

describeOnMongod('what a program that knew nothing of members left behind in MongoDB', () => {
  const subject = useStore(onMongo);
  let store: Store;
  let client: MongoClient;
  let resource: Collection<ResourceDocument>;
  beforeEach(() => {
    store = subject.store;
    client = new MongoClient(subject.url);
    resource = client.db().collection('resource');
  });
  afterEach(() => client.close());

  const within = (id: string, type = 'Drug'): Contained => ({ type, id, entries: [of('code', token('x'))] });
  const order = (id: string, expected: number, contained: readonly Contained[] = [within('m')]): Put => ({
    ...put(id, expected, 'x', [], 'Order'),
    contained,
  });

  /** Its writes replace a document whole, and their documents know of nothing within. */
  const forget = (id: string) => resource.updateOne({ _id: `Order/${id}` }, { $unset: { within: true } });

  const drugs = (count: number): Promise<string[]> => walk(store, query('#Drug', { count }));

  it('is in the way of nothing that is written', async () => {
    await store.write([order('written', 0), order('indexed', 0), order('restored', 0)]);
    for (const id of ['written', 'indexed', 'restored']) await forget(id);
    // Of a resource that is not there at all.
    const [found] = await resource.find({ _id: '#Drug/Order/written#m' }).toArray();
    await resource.insertOne({ ...found!, _id: '#Drug/Order/created#m', id: 'Order/created#m' });
    expect(await store.write([order('written', 1)])).toMatchObject([{ version: 2 }]);
    expect(await store.write([order('created', 0)])).toMatchObject([{ version: 1 }]);
    const indexed = { type: 'Order', id: 'indexed', version: 1, entries: [], contained: [within('m'), within('n')] };
    expect(await store.reindex([indexed])).toBe(1);
    const content = { resourceType: 'Order', id: 'restored' };
    const restored = { type: 'Order', id: 'restored', version: 2, lastUpdated: Date.now(), json: '{}', content };
    expect(await store.restore([{ ...restored, entries: [], contained: [within('m')] }])).toBe(1);
    const all = ['Order/created#m', 'Order/indexed#m', 'Order/indexed#n', 'Order/restored#m', 'Order/written#m'];
    expect(await drugs(10)).toEqual(all);
  });

  it('is left out of pages, which go on behind it', async () => {
    const ids = ['a', 'b', 'c', 'd', 'e', 'f', 'g'];
    await store.write(ids.map((id) => order(id, 0)));
    await store.write([order('h', 0, [within('m'), within('t', 'Tool')])]);
    await resource.deleteOne({ _id: 'Order/a' });
    await resource.updateOne({ _id: 'Order/c' }, { $set: { deleted: true }, $unset: { within: true, resource: true } });
    await forget('d');
    await resource.deleteOne({ _id: 'Order/g' });
    // It was written without, and then with something of another type.
    await resource.updateOne({ _id: 'Order/h' }, { $set: { within: ['Tool'] } });
    const left = ['Order/b#m', 'Order/e#m', 'Order/f#m'];
    for (const count of [1, 2, 3, 10]) {
      expect(await drugs(count)).toEqual(left);
      const found: string[] = [];
      for (let after: string | undefined, isOver = false; !isOver;) {
        const parts = ['#Drug', '#Tool'].map((type) => ({ type, where: { all: [] } }));
        const asked = { parts, sort: [], count, total: 'none', ...(after !== undefined && { after }) } as const;
        const page = await store.findMultiType(asked);
        found.push(...page.versions.map(({ id }) => id));
        after = page.next;
        isOver = after === undefined;
      }
      expect(found).toEqual([...left, 'Order/h#t']);
    }
  });
});
