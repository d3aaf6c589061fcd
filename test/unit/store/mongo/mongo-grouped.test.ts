import { setImmediate } from 'node:timers/promises';
import { describe, expect, it } from 'vitest';

import { grouped } from '../../../../runtime/store/mongo/grouped.js';

describe('what is asked for in one turn of the event loop', () => {
  /** Doubles numbers, refuses negative ones, and throws for NaN. */
  function doubling() {
    const groups: (readonly number[])[] = [];
    const double = grouped<number, number>(async (items) => {
      groups.push(items);
      if (items.includes(NaN)) throw new Error('not a number');
      return items.map((item) => (item < 0 ? new Error(`${item} is negative`) : item * 2));
    });
    return { groups, double };
  }

  it('is done together, that of the next turn after it', async () => {
    const { groups, double } = doubling();
    const first = Promise.all([double(1), double(2), double(1)]);
    await setImmediate();
    expect(await Promise.all([double(3), first])).toEqual([6, [2, 4, 2]]);
    expect(groups).toEqual([[1, 2, 1], [3]]);
  });

  it('and what fails by itself fails alone', async () => {
    const { double } = doubling();
    const results = await Promise.allSettled([double(1), double(-2), double(3)]);
    expect(results).toEqual([
      { status: 'fulfilled', value: 2 },
      { status: 'rejected', reason: new Error('-2 is negative') },
      { status: 'fulfilled', value: 6 },
    ]);
  });

  it('and none waits for what becomes of another', async () => {
    let finish = (_: string): void => {};
    const later = new Promise<string>((resolve) => (finish = resolve));
    const wait = grouped<string, string>(async (items) => items.map((item) => (item === 'slow' ? later : item)));
    const [slow, fast] = [wait('slow'), wait('fast')];
    expect(await fast).toBe('fast');
    finish('done');
    expect(await slow).toBe('done');
  });

  it('fails where all of it fails, and what comes later does not', async () => {
    const { double } = doubling();
    const failed = await Promise.allSettled([double(1), double(NaN)]);
    expect(failed.map(({ status }) => status)).toEqual(['rejected', 'rejected']);
    expect(await double(4)).toBe(8);
  });

  it('is cut into groups of 64', async () => {
    const { groups, double } = doubling();
    const items = Array.from({ length: 150 }, (_, i) => i);
    expect(await Promise.all(items.map(double))).toEqual(items.map((item) => item * 2));
    expect(groups.map(({ length }) => length)).toEqual([64, 64, 22]);
  });
});
