import { describe, expect, it } from 'vitest';

import { countVisible, fillPage, type HistoryWalk } from '../../../runtime/interactions/history/history-walk.js';
import type { HistoryQuery, StoredVersion } from '../../../runtime/store/store.js';

/** A walk through so many versions, of which these places may be seen. */
function walkOf(size: number, isSeen: (place: number) => boolean): HistoryWalk & { readonly asked: number[] } {
  const asked: number[] = [];
  const version = (place: number): StoredVersion => ({ type: 'Basic', id: 'b', version: place, lastUpdated: place });
  return {
    asked,
    async ask({ after = '0', count }: HistoryQuery) {
      asked.push(count);
      const from = Number(after);
      const versions = Array.from({ length: Math.min(count, size - from) }, (_, i) => version(from + i));
      const end = from + versions.length;
      return { versions, total: size, complete: 1, ...(end < size && { next: String(end) }) };
    },
    see: async (versions) => versions.filter(({ version: place }) => isSeen(place)),
  };
}

const places = ({ versions }: { readonly versions: readonly StoredVersion[] }) => versions.map((each) => each.version);

describe('a page of what may be seen', () => {
  it.each([1, 2, 3, 5, 7, 100])('of %i in a row repeats and skips nothing, however it lies', async (count) => {
    for (const isSeen of [() => true, (n: number) => n % 7 === 3, (n: number) => n > 290, (n: number) => n < 3]) {
      const walk = walkOf(300, isSeen);
      const found: number[] = [];
      for (let after: string | undefined = '0'; after !== undefined;) {
        const page = await fillPage({ count, after }, walk);
        expect(page.versions.length).toBeGreaterThan(0);
        found.push(...places(page));
        after = page.next;
        if (after !== undefined) expect(page.versions).toHaveLength(count);
      }
      expect(found).toEqual(Array.from({ length: 300 }, (_, i) => i).filter(isSeen));
    }
  });

  it('asks for more at a time the less there is, and ends when it has looked at much', async () => {
    const walk = walkOf(1_000_000, (place) => place === 30_000);
    const first = await fillPage({ count: 5 }, walk);
    expect(first.versions).toEqual([]);
    expect(Number(first.next)).toBeLessThan(25_000);
    expect(walk.asked.length).toBeLessThan(40);
    const second = await fillPage({ count: 5, after: first.next! }, walk);
    expect(places(second)).toEqual([30_000]);
  });

  it('is the last one where all that follows is hidden', async () => {
    expect(
      (
        await fillPage(
          { count: 2 },
          walkOf(500, (place) => place < 2),
        )
      ).next,
    ).toBeUndefined();
    expect(
      (
        await fillPage(
          { count: 2 },
          walkOf(500, (place) => place < 2 || place === 499),
        )
      ).next,
    ).toBe('2');
  });
});

it('is counted', async () => {
  const walk = walkOf(2500, (place) => place % 2 === 0);
  expect(await countVisible({ count: 5 }, walk)).toBe(1250);
});
