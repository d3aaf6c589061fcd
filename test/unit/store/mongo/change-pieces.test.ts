import { describe, expect, it, vi } from 'vitest';

import { extendableTimeout } from '../../../../runtime/fhir/with-timeout.js';
import { cutChanges } from '../../../../runtime/store/change-pieces.js';
import type { Change } from '../../../../runtime/store/store.js';
import { deletion, put } from '../../../contract/subject.js';

const entry = { kind: 'token', param: 'code', code: 'x' } as const;

describe('pieces of a large write', () => {
  const cut = (changes: readonly Change[]): number[] =>
    [...cutChanges(changes, (change) => change)].map(({ length }) => length);

  it.each([
    ['none', [], []],
    ['a few', [put('a', 0), deletion('b', 1)], [2]],
    ['many small ones', Array.from({ length: 250 }, (_, n) => put(`${n}`, 0)), [100, 100, 50]],
    ['much text', Array.from({ length: 5 }, (_, n) => put(`${n}`, 0, 'x'.repeat(100_000))), [2, 2, 1]],
    ['one that is larger than a piece', [put('a', 0, 'x'.repeat(1e6)), put('b', 0)], [1, 1]],
    ['many index entries', Array.from({ length: 4 }, (_, n) => put(`${n}`, 0, 'x', Array(1400).fill(entry))), [2, 2]],
  ] as const)('%s', (_name, changes, lengths) => expect(cut(changes)).toEqual(lengths));

  it('are in the order of the changes, each once', () => {
    const changes = Array.from({ length: 333 }, (_, n) => put(`${n}`, 0, 'x'.repeat(n * 50)));
    expect([...cutChanges(changes, (change) => change)].flat()).toEqual(changes);
  });
});

describe('a time that grows', () => {
  it('is over late when it has grown meanwhile, and not before', async () => {
    vi.useFakeTimers();
    try {
      const time = extendableTimeout(100);
      const never = new Promise<never>(() => {});
      const told: string[] = [];
      const over = time.race(never, () => new Error('late')).catch((error: Error) => told.push(error.message));
      await vi.advanceTimersByTimeAsync(50);
      time.atLeast(300);
      time.atLeast(200);
      await vi.advanceTimersByTimeAsync(240);
      expect(told).toEqual([]);
      await vi.advanceTimersByTimeAsync(20);
      await over;
      expect(told).toEqual(['late']);
      expect(await extendableTimeout(10).race(Promise.resolve('done'), () => new Error('late'))).toBe('done');
    } finally {
      vi.useRealTimers();
    }
  });
});
