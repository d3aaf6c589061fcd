import {
  BSON,
  MongoBulkWriteError,
  MongoInvalidArgumentError,
  MongoNetworkError,
  MongoServerError,
  type ClientSession,
} from 'mongodb';
import { describe, expect, it } from 'vitest';

import type { Causal } from '../../../../runtime/store/mongo/read/causal.js';
import { errorsOf, openInsert, Stopped } from '../../../../runtime/store/mongo/write/single/inserts.js';

const TIME = 10_000;

interface Named {
  readonly _id: string;
  readonly version: number;
}

function item(_id: string, left = TIME, size = 100) {
  return { document: { _id, version: 1 }, size, deadline: performance.now() + left };
}

describe('inserts that share a command', () => {
  const stopped = (): Error => {
    const result = { getWriteConcernError: () => undefined } as never;
    return new MongoBulkWriteError({ message: 'operation exceeded time limit', code: 50 } as never, result);
  };

  /** @param fail what `insertMany` rejects with @param there ids of what is found after the server stopped it */
  function recording(fail?: Error, there: readonly string[] = [], time = TIME) {
    const calls: string[] = [];
    const times: number[] = [];
    const collection = {
      async insertOne({ _id }: Named) {
        calls.push(_id);
        if (_id === 'wrong') throw new Error('wrong');
      },
      async insertMany(documents: readonly Named[], { maxTimeMS }: { maxTimeMS: number }) {
        calls.push(documents.map(({ _id }) => _id).join());
        times.push(maxTimeMS);
        if (fail !== undefined) throw fail;
      },
      find(filter: { _id: { $in: readonly string[] } }) {
        calls.push(`look ${filter._id.$in.join()}`);
        const found = there.map((_id) => Buffer.from(BSON.serialize({ _id, version: 1 })));
        return { toArray: async () => found };
      },
    };
    const run = <T>(work: (session: ClientSession) => Promise<T>): Promise<T> => work({} as ClientSession);
    const causal: Causal = { read: run, write: run, transact: run };
    return { calls, times, write: openInsert<Named>(collection as never, causal, time) };
  }

  it('are small, and have time', async () => {
    const { calls, write } = recording();
    const items = [item('a'), item('large', TIME, 40_000), item('b'), item('hurried', TIME / 3), item('c', TIME * 0.6)];
    await Promise.all(items.map(write));
    expect(calls.sort()).toEqual(['a,b,c', 'hurried', 'large']);
  });

  it('end with the first of their deadlines', async () => {
    const { times, write } = recording(undefined, [], 300);
    await Promise.all([item('a', 300), item('b', 200)].map(write));
    expect(times[0]).toBeLessThanOrEqual(100);
  });

  it('and after a quarter of a second', async () => {
    const { times, write } = recording();
    await Promise.all([item('a'), item('b')].map(write));
    expect(times[0]).toBeGreaterThan(200);
    expect(times[0]).toBeLessThanOrEqual(250);
  });

  it('are looked up after the server stopped the command: a missing one is sent alone, and so are the next', async () => {
    const { calls, write } = recording(stopped(), ['a']);
    await Promise.all([item('a'), item('b')].map(write));
    await Promise.all([item('c'), item('d')].map(write));
    expect(calls).toEqual(['a,b', 'look a,b', 'b', 'c', 'd']);
  });

  it('are done alone where one of them cannot be sent', async () => {
    const { calls, write } = recording(new TypeError('no BSON'));
    const results = await Promise.allSettled([item('a'), item('wrong'), item('b')].map(write));
    expect(results.map(({ status }) => status)).toEqual(['fulfilled', 'rejected', 'fulfilled']);
    expect(calls).toEqual(['a,wrong,b', 'a', 'wrong', 'b']);
  });

  it('and are not done again where they may have been sent', async () => {
    const { calls, write } = recording(new MongoNetworkError('gone'));
    const results = await Promise.allSettled([item('a'), item('b')].map(write));
    expect(results.map(({ status }) => status)).toEqual(['rejected', 'rejected']);
    expect(calls).toEqual(['a,b']);
  });
});

describe('errors of a bulk write', () => {
  const unknown = expect.objectContaining({ code: 'store-unavailable' });

  /** As the driver throws it. */
  function bulkError(failed: readonly { index: number; code: number }[], concern?: { code: number }, all = 64): Error {
    const result = { getWriteConcernError: () => concern } as never;
    const writeErrors = failed.map((each) => ({ ...each, errmsg: 'refused' })) as never;
    return new MongoBulkWriteError({ message: 'refused', code: failed[0]?.code ?? all, writeErrors }, result);
  }

  it('are those of its statements; the others were done', () => {
    const [first, second, third] = errorsOf(bulkError([{ index: 1, code: 11000 }]), 3);
    expect([first, third]).toEqual([undefined, undefined]);
    expect(second).toBeInstanceOf(MongoServerError);
    expect((second as MongoServerError).code).toBe(11000);
  });

  it('are unknown of all if no majority confirmed them', () => {
    const errors = errorsOf(bulkError([{ index: 0, code: 11000 }], { code: 64 }), 2);
    expect(errors).toEqual([unknown, unknown]);
    expect(errorsOf(bulkError([], { code: 64 }), 2)).toEqual([unknown, unknown]);
  });

  it.each([
    ['a lost connection', new MongoNetworkError('gone')],
    ['a lost connection, wrapped', new MongoBulkWriteError(new MongoNetworkError('gone') as never, { getWriteConcernError: () => undefined } as never)],
    ['no primary', new MongoServerError({ message: 'not primary', code: 10107 })],
    ['an argument', new MongoInvalidArgumentError('none')],
  ])('are unknown of all: %s', (_, error) => {
    expect(errorsOf(error, 2)).toEqual([unknown, unknown]);
  }); // prettier-ignore

  it('are unknown of a statement that was not refused', () => {
    const codes = [50, 11600, 112].map((code, index) => ({ index, code }));
    expect(errorsOf(bulkError([...codes, { index: 3, code: 10334 }]), 5)).toEqual([
      ...[unknown, unknown, unknown],
      expect.objectContaining({ code: 10334 }),
      undefined,
    ]);
  });

  it.each([
    ['stopped it', bulkError([], undefined, 50)],
    ['had no majority in time', bulkError([], { code: 50 }, 50)],
  ])('are to be looked for where the server %s', (_, error) => {
    expect(() => errorsOf(error, 2)).toThrow(Stopped);
  });

  it('are thrown where nothing was sent', () => {
    expect(() => errorsOf(new TypeError('no BSON'), 2)).toThrow('no BSON');
  });
});
