import { expect, it } from 'vitest';

import { openAdmission } from '../../../../runtime/fhir/admission.js';

const within = (time: number) => ({ time, late: () => new Error('late') });

it('no more have a turn than may, in the order in which they came', async () => {
  const turns = openAdmission({ inside: 2 });
  const order: number[] = [];
  let now = 0;
  let most = 0;
  const work = async (n: number): Promise<void> => {
    const end = await turns.enter(1, { patience: within(1000) });
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
  const turns = openAdmission({ inside: 1 });
  const end = await turns.enter();
  await expect(turns.enter(1, { patience: within(5) })).rejects.toThrow('late');
  const controller = new AbortController();
  const left = turns.enter(1, { patience: within(1000), signal: controller.signal });
  controller.abort(new Error('left'));
  await expect(left).rejects.toThrow('left');
  await expect(
    turns.enter(1, { patience: within(1000), signal: AbortSignal.abort(new Error('gone')) }),
  ).rejects.toThrow('gone');
  const next = turns.enter(1, { patience: within(1000) });
  end();
  (await next)();
  (await turns.enter(1, { patience: within(0) }))();
});

it('the newest is next where that is asked for, and a free turn is given without waiting', async () => {
  const turns = openAdmission({ inside: 1, next: 'newest' });
  const end = turns.tryEnter();
  expect(turns.tryEnter()).toBeUndefined();
  const order: number[] = [];
  const work = async (n: number): Promise<void> => {
    const over = await turns.enter(1, { patience: within(1000) });
    order.push(n);
    over();
  };
  const all = Promise.all([1, 2, 3].map(work));
  end!();
  await all;
  expect(order).toEqual([3, 2, 1]);
  expect(turns.tryEnter()).toBeDefined();
});
