import { MongoBulkWriteError, MongoInvalidArgumentError, MongoNetworkError, MongoServerError } from 'mongodb';
import { describe, expect, it } from 'vitest';

import { errorsOf, share, type Single } from '../../../runtime/store/mongo/write/single/share.js';

const TIME = 10_000;

interface Named extends Single {
  readonly name: string;
}

function item(name: string, left = TIME, size = 100): Named {
  return { name, size, deadline: performance.now() + left };
}

describe('writes that share a command', () => {
  function recording(fail?: Error) {
    const calls: string[] = [];
    const write = share<Named, string>(TIME, {
      async alone({ name }) {
        calls.push(name);
        if (name === 'wrong') throw new Error('wrong');
        return name;
      },
      async together(items) {
        calls.push(items.map(({ name }) => name).join());
        if (fail !== undefined) throw fail;
        return items.map(({ name }) => name);
      },
    });
    return { calls, write };
  }

  it('are small, and have time', async () => {
    const { calls, write } = recording();
    const items = [item('a'), item('large', TIME, 40_000), item('b'), item('hurried', TIME / 3), item('c', TIME * 0.6)];
    expect(await Promise.all(items.map(write))).toEqual(['a', 'large', 'b', 'hurried', 'c']);
    expect(calls.sort()).toEqual(['a,b,c', 'hurried', 'large']);
  });

  it('end with the first of their deadlines', async () => {
    const deadlines: number[] = [];
    const write = share<Named, void>(TIME, {
      alone: async () => {},
      async together(items, deadline) {
        deadlines.push(deadline);
        return items.map(() => undefined);
      },
    });
    const [a, b] = [item('a', 9000), item('b', 8000)];
    await Promise.all([write(a), write(b)]);
    expect(deadlines).toEqual([b.deadline]);
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
  function bulkError(failed: readonly { index: number; code: number }[], concern?: { code: number }): Error {
    const result = { getWriteConcernError: () => concern } as never;
    const writeErrors = failed.map((each) => ({ ...each, errmsg: 'refused' })) as never;
    return new MongoBulkWriteError({ message: 'refused', code: failed[0]?.code ?? 64, writeErrors }, result);
  }

  it('are those of its statements; the others were done', () => {
    const [first, second, third] = errorsOf(bulkError([{ index: 1, code: 11000 }]), 3);
    expect([first, third]).toEqual([undefined, undefined]);
    expect(second).toBeInstanceOf(MongoServerError);
    expect((second as MongoServerError).code).toBe(11000);
  });

  it('are unknown of the others if no majority confirmed them', () => {
    const errors = errorsOf(bulkError([{ index: 0, code: 11000 }], { code: 64 }), 2);
    expect(errors).toEqual([expect.objectContaining({ code: 11000 }), unknown]);
    expect(errorsOf(bulkError([], { code: 64 }), 2)).toEqual([unknown, unknown]);
  });

  it.each([
    ['a lost connection', new MongoNetworkError('gone')],
    ['a lost connection, wrapped', new MongoBulkWriteError(new MongoNetworkError('gone') as never, { getWriteConcernError: () => undefined } as never)],
    ['the time of the server', new MongoServerError({ message: 'time is up', code: 50 })],
    ['no primary', new MongoServerError({ message: 'not primary', code: 10107 })],
    ['an argument', new MongoInvalidArgumentError('none')],
  ])('are unknown of all: %s', (_, error) => {
    expect(errorsOf(error, 2)).toEqual([unknown, unknown]);
  }); // prettier-ignore

  it('are thrown where nothing was sent', () => {
    expect(() => errorsOf(new TypeError('no BSON'), 2)).toThrow('no BSON');
  });
});
