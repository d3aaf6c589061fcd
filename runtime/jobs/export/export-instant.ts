import type { Store } from '../../store/store.js';

/**
 * The instant of an export: all that is acknowledged is of it or earlier, and all that comes is later. It is this one; where nothing was
 * written for some seconds and other processes write too, the last one before which nothing new can appear: that need not be waited for.
 */
export async function instantOf(store: Pick<Store, 'history'>): Promise<number> {
  const { versions, complete } = await store.history({ count: 1 });
  const newest = versions[0]?.lastUpdated ?? 0;
  const settled = complete - 1;
  return newest < settled ? settled : Math.max(Date.now() - 1, settled, newest);
}

/**
 * The time of the newest version, milliseconds since the epoch: all that is acknowledged is of it or earlier. Unlike `instantOf` it asks
 * no clock of this process, which may be ahead of the one that stamps: what is written from now on is not of it.
 */
export async function lastWriteOf(store: Pick<Store, 'history'>): Promise<number> {
  const { versions } = await store.history({ count: 1 });
  return versions[0]?.lastUpdated ?? 0;
}
