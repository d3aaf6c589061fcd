import { describe, expect, it } from 'vitest';

import { instantOf, lastWriteOf } from '../../../runtime/jobs/export/export-instant.js';
import type { HistoryPage, Store } from '../../../runtime/store/store.js';

/** Returns a store whose newest version is of a time, and whose past is complete before another. */
function storeOf(newest: number | undefined, complete: number): Pick<Store, 'history'> {
  const versions = newest === undefined ? [] : [{ lastUpdated: newest }];
  return { history: () => Promise.resolve({ versions, complete, total: versions.length } as unknown as HistoryPage) };
}

describe('the instant of an export', () => {
  it('is one that is settled where nothing was written since', async () => {
    expect(await instantOf(storeOf(1000, 5000))).toBe(4999);
    expect(await instantOf(storeOf(4998, 5000))).toBe(4999);
  });

  it('holds all that was acknowledged', async () => {
    const now = Date.now();
    expect(await instantOf(storeOf(4999, 5000))).toBeGreaterThanOrEqual(now - 1);
    expect(await instantOf(storeOf(5001, 5000))).toBeGreaterThanOrEqual(now - 1);
    // The store's clock is ahead.
    expect(await instantOf(storeOf(now + 60_000, now - 5000))).toBe(now + 60_000);
  });

  it('is the present one where writes come one after the other, or none was ever made', async () => {
    const now = Date.now();
    expect(await instantOf(storeOf(4999, 5000))).toBeGreaterThanOrEqual(now - 1);
    expect(await instantOf(storeOf(undefined, 0))).toBeGreaterThanOrEqual(now - 1);
  });
});

describe('the time of the newest version', () => {
  it('asks no clock: a write that comes after is not of it, though this clock is ahead of the store', async () => {
    expect(await lastWriteOf(storeOf(4000, 5000))).toBe(4000);
    expect(await lastWriteOf(storeOf(undefined, 0))).toBe(0);
  });
});
