import { setTimeout as sleep } from 'node:timers/promises';
import { describe, expect, it } from 'vitest';

import { openKeyQueue } from '../../../runtime/store/key-queue.js';

describe('work on the same keys', () => {
  /** Records what begins and ends. */
  function worker(log: string[]) {
    return (name: string) => async (): Promise<string> => {
      log.push(`${name} begins`);
      await sleep(5);
      log.push(`${name} ends`);
      return name;
    };
  }

  it('is done one after the other, in the order it came; other keys go on', async () => {
    const queue = openKeyQueue();
    const log: string[] = [];
    const work = worker(log);
    const done = await Promise.all([
      queue.run(['a', 'b'], 1000, work('1')),
      queue.run(['b', 'c'], 1000, work('2')),
      queue.run(['c', 'a', 'c'], 1000, work('3')),
      queue.run(['d'], 1000, work('other')),
    ]);
    expect(done).toEqual(['1', '2', '3', 'other']);
    expect(log.filter((line) => !line.startsWith('other'))).toEqual(
      ['1', '2', '3'].flatMap((name) => [`${name} begins`, `${name} ends`]),
    );
    expect(log.indexOf('other begins')).toBeLessThan(log.indexOf('1 ends'));
  });

  it('goes on after one that failed', async () => {
    const queue = openKeyQueue();
    const failed = queue.run(['a'], 1000, () => Promise.reject(new Error('no')));
    const next = queue.run(['a'], 1000, () => Promise.resolve('yes'));
    await expect(failed).rejects.toThrow('no');
    expect(await next).toBe('yes');
  });

  it('is not begun where patience ends first, and the order stays', async () => {
    const queue = openKeyQueue();
    const log: string[] = [];
    let release = (): void => {};
    const first = queue.run(['a'], 1000, () => new Promise<void>((resolve) => (release = resolve)));
    const second = queue.run(['a'], 1, worker(log)('second'));
    await expect(second).rejects.toMatchObject({ code: 'store-busy', status: 503, headers: { 'Retry-After': '1' } });
    const third = queue.run(['a'], 1000, worker(log)('third'));
    await sleep(5);
    expect(log).toEqual([]);
    release();
    await Promise.all([first, third]);
    expect(log).toEqual(['third begins', 'third ends']);
  });
});
