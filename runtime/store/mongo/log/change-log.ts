import { randomUUID } from 'node:crypto';

import { COMMIT_DELAY, type LoggedVersion, type VersionLog } from '../../version-log.js';
import { answered } from '../read/answered.js';
import type { ChangeDocument } from '../bson/documents.js';
import { LOG, openNumbering, type NumberingParts } from './numbering.js';

/** How often the log is marked as needed at least, in milliseconds. */
const NEED = 60_000;

/** Pause before the lease is asked for again, in milliseconds. */
const AGAIN = 2000;

/** Numbers that one command forgets. */
const TRIMMED = 5000;

/** The log of a database, and its end in this process. */
export interface ChangeLog extends VersionLog {
  close(): Promise<void>;
}

/**
 * The log of a database. It begins with the first `end`, `read` or `placeAt`; from then on each process that uses it numbers versions where no
 * other does.
 */
export function openChangeLog(parts: Omit<NumberingParts, 'holder'>): ChangeLog {
  const { collections, causal, now, time, keep } = parts;
  const { change, log } = collections;
  const numbering = openNumbering({ ...parts, holder: randomUUID() });
  const listeners = new Set<() => void>();
  const closing = new AbortController();
  let needed = -Infinity;
  let running: Promise<void> | undefined;
  let follower: { close(): Promise<void> } | undefined;

  const notify = (): void => {
    for (const listener of listeners) listener();
  };

  /** Sees that the log goes on. What is committed after it resolves is numbered. */
  async function need(): Promise<void> {
    if (performance.now() - needed < Math.min(NEED, keep / 4)) return;
    await answered(time, causal.write(async (session) => {
      const state = await log.findOneAndUpdate(
        { _id: LOG },
        { $set: { needed: new Date(now()) }, $setOnInsert: { seq: 0, floor: 0, epoch: 0 } },
        { session, maxTimeMS: time, upsert: true, returnDocument: 'after' },
      );
      if (state?.start === undefined) {
        if (session.operationTime === undefined) throw new Error('the server returned no operation time');
        const start = { $set: { start: session.operationTime, began: new Date(now()) } };
        await log.updateOne({ _id: LOG, start: { $exists: false } }, start, { session, maxTimeMS: time });
      }
    })); // prettier-ignore
    needed = performance.now();
    running ??= keepNumbering();
  }

  async function keepNumbering(): Promise<void> {
    const { signal } = closing;
    while (!signal.aborted) {
      const hadLease = await numbering
        .run(signal, () => {
          notify();
        })
        .catch(() => true);
      if (!hadLease) follow();
      if (!signal.aborted) await sleep(hadLease ? AGAIN / 10 : AGAIN, signal);
    }
  }

  /** Learns of what another process numbers. */
  function follow(): void {
    if (follower !== undefined || listeners.size === 0) return;
    const stream = change.watch([{ $match: { operationType: 'insert' } }, { $project: { documentKey: 1 } }]);
    follower = stream;
    stream.on('change', notify);
    stream.on('error', () => {
      follower = undefined;
      void stream.close().catch(() => {});
      // What came meanwhile is found by a look.
      notify();
    });
  }

  return {
    async end() {
      await need();
      const state = await answered(time, causal.read((session) => log.findOne({ _id: LOG }, { session, maxTimeMS: time }))); // prettier-ignore
      return state?.seq ?? 0;
    },
    async read(after, limit) {
      await need();
      const [rows, state] = await answered(time, causal.read(async (session) => {
        const options = { session, maxTimeMS: time };
        const found = await change.find({ _id: { $gt: after } }, options).sort({ _id: 1 }).limit(limit).toArray();
        // Afterwards: what was trimmed meanwhile is missed then.
        return [found, await log.findOne({ _id: LOG }, options)] as const;
      })); // prettier-ignore
      if (state === null || after < state.floor || after > state.seq) return undefined;
      return rows.map(toLogged);
    },
    async placeAt(instant) {
      await need();
      const from = new Date(instant - COMMIT_DELAY);
      const [first, state] = await answered(time, causal.read(async (session) => {
        const options = { session, maxTimeMS: time };
        const next = await change.find({ updated: { $gte: from } }, options).sort({ _id: 1 }).limit(1).next();
        return [next, await log.findOne({ _id: LOG }, options)] as const;
      })); // prettier-ignore
      if (state?.began === undefined || from < state.began || (state.trimmed !== undefined && from < state.trimmed)) {
        return undefined;
      }
      return first === null ? state.seq : first._id - 1;
    },
    watch(listener) {
      const own = (): void => listener();
      listeners.add(own);
      return () => void listeners.delete(own);
    },
    async trim(upTo, instant) {
      const state = await log.findOne({ _id: LOG });
      if (state === null || upTo <= state.floor) return;
      const old = { _id: { $lte: upTo }, updated: { $lt: new Date(instant) } };
      for (;;) {
        const some = await change
          .find(old, { projection: { _id: 1 } })
          .sort({ _id: 1 })
          .limit(TRIMMED)
          .toArray();
        const last = some.at(-1);
        if (last === undefined) return;
        await log.updateOne({ _id: LOG }, { $max: { floor: last._id, trimmed: new Date(instant) } });
        await change.deleteMany({ _id: { $lte: last._id } });
      }
    },
    async close() {
      closing.abort();
      await follower?.close().catch(() => {});
      await running;
    },
  };
}

function toLogged({ _id: seq, type, id, version, updated, interaction }: ChangeDocument): LoggedVersion {
  return { seq, type, id, version, updated: updated.getTime(), interaction };
}

function sleep(milliseconds: number, signal: AbortSignal): Promise<void> {
  return new Promise((resolve) => {
    const done = (): void => {
      clearTimeout(timer);
      signal.removeEventListener('abort', done);
      resolve();
    };
    const timer = setTimeout(done, milliseconds).unref();
    signal.addEventListener('abort', done, { once: true });
  });
}
