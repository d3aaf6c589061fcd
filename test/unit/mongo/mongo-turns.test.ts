import { expect, it } from 'vitest';

import { openTurns } from '../../../runtime/store/mongo/query/turns.js';

const late = (): Error => new Error('late');

it('no more have a turn than may, in the order in which they came', async () => {
  const turns = openTurns(2);
  const order: number[] = [];
  let now = 0;
  let most = 0;
  const work = async (n: number): Promise<void> => {
    const end = await turns.begin(1000, late);
    order.push(n);
    most = Math.max(most, ++now);
    await new Promise(setImmediate);
    now--;
    end();
    // Once more is no more.
    end();
  };
  await Promise.all(Array.from({ length: 9 }, (_, n) => work(n)));
  expect(most).toBe(2);
  expect(order).toEqual([0, 1, 2, 3, 4, 5, 6, 7, 8]);
});

it('who gives up waiting takes no turn', async () => {
  const turns = openTurns(1);
  const end = await turns.begin();
  await expect(turns.begin(5, late)).rejects.toThrow('late');
  const controller = new AbortController();
  const left = turns.begin(1000, late, controller.signal);
  controller.abort(new Error('left'));
  await expect(left).rejects.toThrow('left');
  await expect(turns.begin(1000, late, AbortSignal.abort(new Error('gone')))).rejects.toThrow('gone');
  const next = turns.begin(1000, late);
  end();
  (await next)();
  (await turns.begin(0, late))();
});

it('the newest is next where that is asked for, and a free turn is given without waiting', async () => {
  const turns = openTurns(1, 'newest');
  const end = turns.tryBegin();
  expect(turns.tryBegin()).toBeUndefined();
  const order: number[] = [];
  const work = async (n: number): Promise<void> => {
    const over = await turns.begin(1000, late);
    order.push(n);
    over();
  };
  const all = Promise.all([1, 2, 3].map(work));
  end!();
  await all;
  expect(order).toEqual([3, 2, 1]);
  expect(turns.tryBegin()).toBeDefined();
});
