import { existsSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';

import type { Condition, WordsTest } from '../../../../runtime/search/query/query.js';
import { openInlineSearch } from '../../../../runtime/store/sqlite/query/inline-search.js';
import { identify } from '../../../../runtime/store/sqlite/file/file-identity.js';
import { toThreadSettings } from '../../../../runtime/store/sqlite/settings.js';
import { openSqliteStore } from '../../../../runtime/store/sqlite/sqlite-store.js';
import type { FindQuery, Store } from '../../../../runtime/store/store.js';
import { EVENTUALLY } from '../../../eventually.js';

const QUERY: FindQuery = { type: 'Patient', where: { all: [] }, sort: [], count: 10, total: 'cheap' };

describe('searches on the caller’s thread', () => {
  let folder: string;
  let store: Store;
  const file = (): string => join(folder, 'kiln.db');
  beforeEach(async () => {
    folder = mkdtempSync(join(tmpdir(), 'kiln-here-'));
    store = openSqliteStore(`sqlite:${file()}`);
    await add(0, 100);
  });
  afterEach(async () => {
    await store.close();
    rmSync(folder, { recursive: true });
  });

  async function add(from: number, to: number): Promise<void> {
    const ids = Array.from({ length: to - from }, (_, n) => `p${String(from + n).padStart(4, '0')}`);
    await store.write(
      ids.map((id) => ({
        type: 'Patient',
        id,
        expected: 0,
        body: { head: `{"resourceType":"Patient","id":"${id}","meta":{`, tail: `}}` },
        content: { resourceType: 'Patient', id },
        entries: [],
      })),
    );
  }

  function openHere(limits = { time: 1e6, rows: 0 }, total = () => 0) {
    const identity = identify(file())!;
    return openInlineSearch(toThreadSettings({ file: file(), identity, isTemporary: false }, {}), limits, {
      total,
      close: () => {},
    });
  }

  it('find what the store finds, also what was written since', async () => {
    const here = openHere();
    expect(here.find(QUERY)).toEqual(await store.find(QUERY));
    await add(100, 120);
    const page = here.find(QUERY);
    expect(page).toEqual(await store.find(QUERY));
    expect(page?.total).toBe(120);
    here.close();
  });

  describe('by a clock that stands still but where it is told to go on', () => {
    beforeEach(() => void vi.useFakeTimers({ toFake: ['performance'] }));
    afterEach(() => void vi.useRealTimers());

    /** With this limit, and a connection that is open: to open it may have to wait for the store's own threads. */
    async function openTimed(total: () => number) {
      const limits = { time: 1e6, rows: 0 };
      const here = openHere(limits, total);
      await vi.waitFor(() => expect(here.find(QUERY)).toBeDefined(), EVENTUALLY);
      return { here, limits };
    }

    it('that take too long are left to others, and none is tried for a while', async () => {
      let isSlow = false;
      const { here, limits } = await openTimed(() => {
        if (isSlow) vi.advanceTimersByTime(1);
        return 0;
      });
      isSlow = true;
      limits.time = -Infinity;
      const start = performance.now();
      expect(here.find(QUERY)).toBeUndefined();
      const took = performance.now() - start;
      isSlow = false;
      limits.time = 1e6;
      vi.advanceTimersByTime(took);
      expect(here.find(QUERY)).toBeUndefined();
      vi.advanceTimersByTime(10 * took);
      expect(here.find(QUERY)?.versions).toHaveLength(10);
      here.close();
    });

    it('that others held up go on, and the next is tried at once after one that was left', async () => {
      const waits = vi.fn(() => 0);
      const { here, limits } = await openTimed(waits);
      limits.time = -1;
      // The whole time of each of them, and more. What they waited before is asked again after a while.
      vi.advanceTimersByTime(2);
      waits.mockReturnValueOnce(0).mockReturnValue(1e6);
      expect(here.find(QUERY)?.versions).toHaveLength(10);
      limits.time = -Infinity;
      vi.advanceTimersByTime(2);
      waits.mockReturnValueOnce(0);
      expect(here.find(QUERY)).toBeUndefined();
      limits.time = 1e6;
      expect(here.find(QUERY)?.versions).toHaveLength(10);
      here.close();
    });
  });

  it('right after another do not ask again how long others had the processor', () => {
    vi.useFakeTimers({ toFake: ['performance'] });
    const waits = vi.fn(() => 0);
    const here = openHere({ time: 1e6, rows: 0 }, waits);
    for (let n = 0; n < 5; n++) here.find(QUERY);
    expect(waits).toHaveBeenCalledTimes(1);
    vi.advanceTimersByTime(2);
    here.find(QUERY);
    expect(waits).toHaveBeenCalledTimes(2);
    here.close();
    vi.useRealTimers();
  });

  it('of large pages are left to others', () => {
    const here = openHere();
    expect(here.find({ ...QUERY, count: 101 })).toBeUndefined();
    here.close();
  });

  it('for phrases and several words are left to others: an index of words may go through all before it gives one', () => {
    const here = openHere();
    const [a, b] = [{ phrase: ['a'] }, { phrase: ['b'] }];
    const found = (words: WordsTest, wrap = (where: Condition) => where) =>
      here.find({ ...QUERY, where: wrap({ param: 'p', words }) });
    for (const words of [a, { some: [a, b] }, { begins: ['a', 'b'] }]) expect(found(words)).toBeDefined();
    for (const words of [{ phrase: ['a', 'b'] }, { all: [a], none: [b] }, { some: [a, { all: [a, b], none: [] }] }]) {
      expect(found(words)).toBeUndefined();
      expect(found(words, (where) => ({ all: [{ not: where }, { ids: ['x'] }] }))).toBeUndefined();
      expect(
        found(words, (where) => ({ some: [{ param: 'q', chain: [{ type: 'Patient', where }] }] })),
      ).toBeUndefined();
      expect(found(words, (where) => ({ has: { type: 'Patient', param: 'q', where } }))).toBeUndefined();
    }
    here.close();
  });

  it('of very many conditions are left to others, which alone to weigh them takes long', () => {
    const here = openHere();
    const one = (code: string) => ({ param: 'identifier', any: [{ is: 'token' as const, code }] });
    const where = { all: Array.from({ length: 1000 }, (_, i) => ({ not: one(`${i}`) })) };
    expect(here.find({ ...QUERY, where: { all: where.all.slice(0, 100) } })).toBeDefined();
    expect(here.find({ ...QUERY, where })).toBeUndefined();
    expect(here.findMultiType({ ...QUERY, parts: [{ type: 'Patient', where }] })).toBeUndefined();
    here.close();
  });

  it('of a file that is not there any more are left to others, who say so', async () => {
    const here = openHere();
    rmSync(file());
    expect(here.find(QUERY)).toBeUndefined();
    expect(existsSync(file())).toBe(false);
    here.close();
  });
});
