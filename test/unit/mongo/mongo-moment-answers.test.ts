import type { Document } from 'mongodb';
import { beforeEach, describe, expect, it } from 'vitest';

import { openMomentAnswers, type MomentAnswers } from '../../../runtime/store/mongo/read/moment-answers.js';

const at = (seconds: number, increment = 1) => ({ seconds, increment });

describe('answers of one moment of MongoDB', () => {
  let answers: MomentAnswers;
  let asked: number;
  beforeEach(() => {
    answers = openMomentAnswers();
    asked = 0;
  });
  const get = (time: ReturnType<typeof at> | undefined, command: Document, size = 1): Promise<number> =>
    answers.get(time, command, async () => ++asked, () => size); // prettier-ignore

  it('are asked for once', async () => {
    expect([await get(at(5), { a: 1 }), await get(at(5), { a: 1 }), await get(at(5), { a: 2 })]).toEqual([1, 1, 2]);
  });

  it('are asked for again in another moment, a later one or an earlier one', async () => {
    await get(at(5), { a: 1 });
    expect([await get(at(5, 2), { a: 1 }), await get(at(5), { a: 1 }), await get(at(5, 2), { a: 1 })]).toEqual([
      2, 3, 2,
    ]);
    expect([await get(at(6), { a: 1 }), await get(undefined, { a: 1 }), await get(undefined, { a: 1 })]).toEqual([
      4, 5, 6,
    ]);
  });

  it.each<[string, Document, Document]>([
    ['patterns', { a: /x/ }, { a: /y/ }],
    ['dates', { a: new Date(1) }, { a: new Date(2) }],
    ['infinite numbers', { a: Infinity }, { a: -Infinity }],
    ['a text and a date', { a: new Date(0).toISOString() }, { a: new Date(0) }],
    ['orders of fields', { a: 1, b: 1 }, { b: 1, a: 1 }],
  ])('are those of the same command, not of one with other %s', async (_, one, other) => {
    expect([await get(at(5), one), await get(at(5), other), await get(at(5), one)]).toEqual([1, 2, 1]);
  });

  it('are not kept where they or their commands are large, nor failures', async () => {
    expect([await get(at(5), { a: 1 }, 1000), await get(at(5), { a: 1 }, 1000)]).toEqual([1, 2]);
    const long = { a: 'x'.repeat(5000) };
    expect([await get(at(5), long), await get(at(5), long)]).toEqual([3, 4]);
    const fail = (): Promise<number> => Promise.reject(new Error('no'));
    await expect(answers.get(at(5), { b: 1 }, fail, () => 1)).rejects.toThrow('no');
    expect(await get(at(5), { b: 1 })).toBe(5);
  });

  it('are not kept where another moment came meanwhile', async () => {
    const slow = answers.get(at(5), { a: 1 }, async () => {
      await get(at(6), { b: 1 });
      return 77;
    }, () => 1); // prettier-ignore
    expect(await slow).toBe(77);
    expect(await get(at(6), { a: 1 })).toBe(2);
  });
});
