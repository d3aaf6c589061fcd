import { setTimeout as sleep } from 'node:timers/promises';
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';

import { yieldUntil } from '../../../runtime/fhir/yield-until.js';
import { commit } from '../../../runtime/core/write/commit.js';
import { timeOf } from '../../../runtime/store/write-time.js';
import type { Change, Store } from '../../../runtime/store/store.js';
import { createToyStore } from '../../toy/store.js';

const PUT: Change = {
  type: 'Patient',
  id: 'p',
  expected: 0,
  body: { head: '{"resourceType":"Patient","id":"p","meta":{', tail: '}}' },
  content: { resourceType: 'Patient', id: 'p' },
  entries: [],
};

describe('a decision that takes too long', () => {
  let store: Store;
  beforeEach(() => {
    store = createToyStore();
    vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout', 'performance'] });
  });
  afterEach(async () => {
    vi.useRealTimers();
    await store.close();
  });

  it('ends when its client is answered, and nothing is written', async () => {
    let seen: AbortSignal | undefined;
    let finish = (): void => {};
    const done = commit(store, ['k'], async (signal) => {
      seen = signal;
      await new Promise<void>((resolve) => (finish = resolve));
      return { changes: [PUT], result: undefined };
    });
    const refused = expect(done).rejects.toMatchObject({
      status: 503,
      message: expect.stringContaining('nothing is written') as string,
    });
    await vi.advanceTimersByTimeAsync(14_000);
    await refused;
    expect(seen?.aborted).toBe(true);
    finish();
    // The next one on the same key comes after it, so that it sees what that did.
    const { result } = await commit(store, ['k'], async () => ({
      changes: [],
      result: await store.read('Patient', 'p'),
    }));
    expect(result).toBeUndefined();
  });

  it.each([0, 5000])('has more time with many changes: %i', async (changes) => {
    const decide = async (signal: AbortSignal) => {
      await new Promise((resolve) => setTimeout(resolve, 30_000));
      return { changes: [], result: signal.aborted };
    };
    const done = commit(store, [], decide, { changes }).then(
      ({ result }) => result,
      (error: { code: string }) => error.code,
    );
    await vi.advanceTimersByTimeAsync(31_000);
    expect(await done).toBe(changes === 0 ? 'store-unavailable' : false);
  });

  it('has no end where nobody waits for an answer', async () => {
    const wait = async () => {
      await new Promise((resolve) => setTimeout(resolve, 3_600_000));
      return { changes: [], result: 'done' };
    };
    const first = commit(store, ['k'], wait, { answerTime: Infinity });
    const second = commit(store, ['k'], wait, { answerTime: Infinity });
    await vi.advanceTimersByTimeAsync(3_600_000);
    expect((await first).result).toBe('done');
    await vi.advanceTimersByTimeAsync(3_600_000);
    expect((await second).result).toBe('done');
  });

  it('is bounded where much is within what is written, and below what MongoDB gives a transaction', () => {
    const containing = (count: number): Change => ({
      ...PUT,
      contained: Array.from({ length: count }, (_, n) => ({ type: 'Patient', id: `m${n}`, entries: [] })),
    });
    const many = Array.from({ length: 4999 }, () => PUT);
    expect(timeOf([...many, PUT])).toBe(25_000);
    expect(timeOf([...many, containing(10_000)])).toBe(45_000);
    expect(timeOf([...many, containing(500_000)])).toBe(45_000);
  });

  it('ends when its client goes', async () => {
    vi.useRealTimers();
    const client = new AbortController();
    let turns = 0;
    const done = commit(
      store,
      [],
      async (signal) => {
        const pace = yieldUntil(signal);
        for (;;) {
          await pace();
          turns++;
          await sleep(1);
        }
      },
      { signal: client.signal },
    );
    const refused = expect(done).rejects.toMatchObject({ code: 'store-busy' });
    setTimeout(() => client.abort(), 20);
    await refused;
    const after = turns;
    await sleep(20);
    expect(turns).toBe(after);
  });
});
