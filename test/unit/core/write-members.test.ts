import { describe, expect, it } from 'vitest';

import { commit } from '../../../runtime/core/write/commit.js';
import type { Contained } from '../../../runtime/indexing/contained.js';
import type { Put, Store } from '../../../runtime/store/store.js';
import { cutByMembers } from '../../../runtime/store/write-contained.js';
import { put } from '../../contract/subject.js';
import { createToyStore } from '../../toy/store.js';

const within = (count: number): readonly Contained[] =>
  Array.from({ length: count }, (_, n) => ({ type: 'Patient', id: `m${n}`, entries: [] }));

describe('how much may be within what is written at once', () => {
  const write = async (counts: readonly number[]) => {
    const toy = createToyStore();
    const asked: number[] = [];
    const store: Store = { ...toy, write: (changes) => (asked.push(changes.length), toy.write(changes)) };
    const changes = counts.map((count, n): Put => ({ ...put(`p${n}`, 0), contained: within(count) }));
    const answer = commit(store, [], () => Promise.resolve({ changes, result: undefined })).then(
      ({ written }) => written.length,
      (error: unknown) => error,
    );
    return [await answer, asked] as const;
  };

  it('is told before the store is asked', async () => {
    expect(await write([5000, 5000])).toEqual([2, [2]]);
    const [error, asked] = await write([5000, 5000, 1]);
    expect(error).toMatchObject({
      code: 'transaction-too-large',
      status: 413,
      message: expect.stringMatching(/contain 10001 others .* may contain 10000 .* in a further transaction/) as string,
    });
    expect(asked).toEqual([]);
  });

  it('is cut in pieces where nobody asked for all at once', () => {
    const cut = (...counts: number[]) => [...cutByMembers(counts, (count) => count, 10)];
    expect(cut()).toEqual([]);
    expect(cut(0, 0, 0)).toEqual([[0, 0, 0]]);
    expect(cut(5, 5, 1, 25, 0, 9, 2)).toEqual([[5, 5], [1], [25], [0, 9], [2]]);
  });
});
