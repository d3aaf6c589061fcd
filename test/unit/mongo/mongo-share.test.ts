import { MongoBulkWriteError, MongoInvalidArgumentError, MongoNetworkError, MongoServerError } from 'mongodb';
import { describe, expect, it } from 'vitest';

import { errorsOf, share, Stopped, type Single } from '../../../runtime/store/mongo/write/single/share.js';

const TIME = 10_000;

interface Named extends Single {
  readonly name: string;
}

function item(name: string, left = TIME, size = 100): Named {
  return { name, size, deadline: performance.now() + left };
}

describe('writes that share a command', () => {
  /** @param left names that `look` does not find after the server stopped; of the name `wrong` it gives an error, others it finds */
  function recording(fail?: Error, left: readonly string[] = []) {
    const calls: string[] = [];
    const deadlines: number[] = [];
    const write = share<Named, string>(TIME, {
      async look(items) {
        calls.push(`look ${items.map(({ name }) => name).join()}`);
        return items.map(({ name }) => (name === 'wrong' ? new Error(name) : left.includes(name) ? undefined : name));
      },
      async again({ name }) {
        calls.push(`again ${name}`);
        return name;
      },
      async alone({ name }) {
        calls.push(name);
        if (name === 'wrong') throw new Error('wrong');
        return name;
      },
      async together(items, deadline) {
        deadlines.push(deadline);
        calls.push(items.map(({ name }) => name).join());
        if (fail !== undefined) throw fail;
        return items.map(({ name }) => name);
      },
    });
    return { calls, deadlines, write };
  }

  it('are small, and have time', async () => {
    const { calls, write } = recording();
    const items = [item('a'), item('large', TIME, 40_000), item('b'), item('hurried', TIME / 3), item('c', TIME * 0.6)];
    expect(await Promise.all(items.map(write))).toEqual(['a', 'large', 'b', 'hurried', 'c']);
    expect(calls.sort()).toEqual(['a,b,c', 'hurried', 'large']);
  });

  it('end with the first of their deadlines', async () => {
    const deadlines: number[] = [];
    const write = share<Named, true>(300, {
      alone: async () => true,
      again: async () => true,
      look: async () => [],
      async together(items, deadline) {
        deadlines.push(deadline);
        return items.map(() => true);
      },
    });
    const [a, b] = [item('a', 300), item('b', 200)];
    await Promise.all([write(a), write(b)]);
    expect(deadlines).toEqual([b.deadline]);
  });

  it('and after a quarter of a second', async () => {
    const { deadlines, write } = recording();
    const begun = performance.now();
    await Promise.all([item('a'), item('b')].map(write));
    expect(deadlines[0]).toBeGreaterThan(begun + 250);
    expect(deadlines[0]).toBeLessThan(begun + TIME / 2);
  });

  it('are looked up after the server stopped the command: a missing one is sent alone, and so are the next writes', async () => {
    const { calls, write } = recording(new Stopped(), ['b']);
    const results = await Promise.allSettled([item('a'), item('b'), item('wrong')].map(write));
    expect(results.map((each) => (each.status === 'fulfilled' ? each.value : 'failed'))).toEqual(['a', 'b', 'failed']);
    await Promise.all([item('c'), item('d')].map(write));
    expect(calls).toEqual(['a,b,wrong', 'look a,b,wrong', 'again b', 'c', 'd']);
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
