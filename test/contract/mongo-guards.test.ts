import { MongoClient } from 'mongodb';
import { expect, it } from 'vitest';

import { describeOnMongod } from '../mongod/for-tests.js';
import { holder, identified } from './durability/child-guards.js';
import { onEmptiedMongo } from './on-mongo.js';
import { useStore } from './subject.js';

describeOnMongod('guards of a MongoDB store beyond the contract', () => {
  const subject = useStore(onEmptiedMongo);

  it('leave digests that the server deletes, and nothing of what they ask for', async () => {
    const { store } = subject;
    await store.write([holder('a', 'secret')], [identified('secret')]);
    await expect(store.write([holder('b', 'secret')], [identified('secret')])).rejects.toThrow('does not find');
    await store.write([holder('b', 'secret')], [identified('secret', ['a'])]);
    const client = await MongoClient.connect(subject.url);
    try {
      const lock = client.db().collection('lock');
      const found = await lock.find().toArray();
      // What was undone left nothing.
      expect(found).toEqual([{ _id: expect.stringMatching(/^[\w-]{43}$/), n: 2, touched: expect.any(Date) }]);
      expect(await lock.indexes()).toContainEqual(expect.objectContaining({ expireAfterSeconds: 60 }));
    } finally {
      await client.close();
    }
  });

  it('those of many creations are looked at a hundred at a time', async () => {
    const commands: string[] = [];
    const store = await subject.reopen({ onCommand: (name) => commands.push(name) });
    const write = async (count: number): Promise<readonly string[]> => {
      commands.length = 0;
      const codes = Array.from({ length: count }, (_, n) => `${count}-${n}`);
      await store.write(
        codes.map((code) => holder(code, code)),
        codes.map((code) => identified(code)),
      );
      return commands.filter((name) => name !== 'hello' && name !== 'ping');
    };
    expect(await write(1)).toEqual(['update', 'find', 'insert', 'commitTransaction']);
    const many = await write(400);
    expect(many.filter((name) => name !== 'insert')).toEqual([
      'update',
      ...Array<string>(4).fill('find'),
      'commitTransaction',
    ]);
  });
});
