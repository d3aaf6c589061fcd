import type { Document } from 'mongodb';

import type { HistoryPage, HistoryQuery } from '../../store.js';
import { readHistoryCursor, writeHistoryCursor } from './history-cursor.js';
import { openHistoryTotals } from './history-totals.js';
import { completeOf } from '../write/complete.js';
import { isSnapshotGone, translateMongoError } from '../mongo-errors.js';
import type { QueryLimits, Snapshot, Snapshots } from './snapshot.js';
import { walk, type VersionWalk, type WalkPage } from './walk.js';

/** Reads pages of history. @param now the server's time */
export function openHistory(
  snapshots: Snapshots,
  now: () => number,
): (query: HistoryQuery, limits: QueryLimits) => Promise<HistoryPage> {
  const totals = openHistoryTotals();

  async function firstPage(query: HistoryQuery, snapshot: Snapshot): Promise<HistoryPage> {
    const selection = toWalk(query);
    // Before the snapshot: what is found takes its time.
    const begun = now();
    const counting = await totals.begin(snapshot, selection);
    const found = query.count === 0 ? undefined : await walk(snapshot, selection, query.count);
    const complete = await completeOf(snapshot, () => begun);
    const total = (found && counting.ofPage(found, complete)) ?? (await counting.count(complete));
    return found === undefined ? { versions: [], total, complete } : toPage(found, snapshot, { total, complete });
  }

  async function toPage(
    { versions, last, hasMore }: WalkPage,
    snapshot: Snapshot,
    { total, complete }: { readonly total: number; readonly complete: number },
  ): Promise<HistoryPage> {
    const shown = versions.map(({ isCurrent: _isCurrent, ...stored }) => stored);
    if (last === undefined || !hasMore) return { versions: shown, total, complete };
    return {
      versions: shown,
      total,
      complete,
      next: writeHistoryCursor({ last, time: await snapshot.time(), total, complete }),
    };
  }

  return async (query, limits) => {
    try {
      if (query.after === undefined) return await snapshots.run(limits, (snapshot) => firstPage(query, snapshot));
      const { last, time, ...known } = readHistoryCursor(query.after);
      if (query.count === 0) return { versions: [], ...known };
      const selection = { ...toWalk(query), from: last };
      const work = async (snapshot: Snapshot): Promise<HistoryPage> =>
        toPage(await walk(snapshot, selection, query.count), snapshot, known);
      try {
        return await snapshots.run(limits, work, time);
      } catch (error) {
        if (!isSnapshotGone(error)) throw error;
        // The server keeps a snapshot for five minutes. What was shown bounds what can come, and by now all of it is there.
        return await snapshots.run(limits, work);
      }
    } catch (error) {
      throw translateMongoError(error);
    }
  };
}

function toWalk({ type, id, types, since, at }: HistoryQuery): VersionWalk {
  const bounds: Document = {
    ...(since === undefined ? {} : { $gte: toDate(since) }),
    ...(at === undefined ? {} : { $lte: toDate(at.to) }),
  };
  const current: Document = Object.keys(bounds).length === 0 ? {} : { updated: bounds };
  // One that is replaced at the very instant `from` is not current then any more.
  const past = at === undefined ? current : { ...current, until: { $gt: toDate(at.from) } };
  return {
    direction: 'before',
    ...(type === undefined ? {} : { type }),
    ...(id === undefined ? {} : { id }),
    ...(types === undefined ? {} : { types }),
    current,
    past,
  };
}

/** The instant as a Date, which reaches 270,000 years either way. */
function toDate(time: number): Date {
  return new Date(Math.max(-8.64e15, Math.min(8.64e15, time)));
}
