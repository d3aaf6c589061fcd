import { MongoClient } from 'mongodb';
import { expect, it } from 'vitest';

import type { Change } from '../../runtime/store/store.js';
import { describeOnMongod } from '../mongod/for-tests.js';
import { holder, identified } from './durability/child-guards.js';
import { onEmptiedMongo } from './on-mongo.js';
import { deletion, put, useStore } from './subject.js';

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

  it('of references are touched where a target is held; one that has to be there costs one command, and none without targets', async () => {
    const commands: string[] = [];
    const store = await subject.reopen({ onCommand: (name) => commands.push(name) });
    const target = { type: 'Patient', id: 'a', expression: 'Patient.link[0].other' };
    const write = async (...changes: readonly Change[]): Promise<readonly string[]> => {
      commands.length = 0;
      await store.write(changes);
      return commands.filter((name) => name !== 'hello' && name !== 'ping');
    };
    const three = ['x', 'y', 'z'].map((id) => ({ ...target, id }));
    expect(await write(put('a', 0), put('x', 0), put('y', 0), put('z', 0))).toContain('commitTransaction');
    expect(await write(put('b', 0))).toEqual(['insert']);
    expect(await write({ ...put('c', 0), targets: three })).toEqual(['find', 'insert']);
    expect(await write({ ...put('d', 0), targets: [{ ...target, isHeld: true as const }] })).toEqual([
      ...['update', 'insert', 'find'],
      'commitTransaction',
    ]);
    // The mark of a copy of what an update replaced is removed by an update some time later, which may be among these.
    const writeOne = async (change: Change): Promise<readonly string[]> =>
      (await write(change)).filter((name) => name !== 'update');
    expect(await writeOne(put('b', 1, 'y'))).toEqual(['find', 'insert']);
    expect(await writeOne({ ...put('b', 2, 'z'), targets: three })).toEqual(['find', 'find', 'insert']);
    expect(await writeOne(deletion('c', 1))).toEqual(['find', 'insert']);
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
