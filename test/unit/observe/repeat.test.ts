import { afterEach, beforeEach, expect, it, vi } from 'vitest';

import { repeat } from '../../../runtime/observe/repeat.js';

beforeEach(() => void vi.useFakeTimers());
afterEach(() => void vi.useRealTimers());

it('repeats one at a time, goes on after a failure, and ends', async () => {
  const times: number[] = [];
  const errors: unknown[] = [];
  const start = Date.now();
  const work = async (): Promise<void> => {
    times.push(Date.now() - start);
    await new Promise((resolve) => setTimeout(resolve, 50));
    if (times.length === 2) throw new Error('x');
  };
  const stop = repeat(work, { first: 10, pause: 100 }, (error) => errors.push(error));
  await vi.advanceTimersByTimeAsync(400);
  expect([times, errors]).toEqual([[10, 160, 310], [new Error('x')]]);
  stop();
  await vi.advanceTimersByTimeAsync(1000);
  expect(times.length).toBe(3);
});

it('says nothing of what fails because it was ended', async () => {
  const errors: unknown[] = [];
  const work = () => new Promise((_resolve, reject) => setTimeout(reject, 50));
  const stop = repeat(work, { first: 0, pause: 10 }, (error) => errors.push(error));
  await vi.advanceTimersByTimeAsync(20);
  stop();
  await vi.advanceTimersByTimeAsync(500);
  expect(errors).toEqual([]);
});
