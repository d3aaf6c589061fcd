import { setTimeout as sleep } from 'node:timers/promises';
import { COMMIT_DELAY } from '../../version-log.js';
import type { Causal } from '../read/causal.js';
import { BY_TIME } from '../indexes.js';
import { pastKeyOf, keyOf, type ChangeDocument, type Collections, type LogDocument } from '../bson/documents.js';
import { comparePlaces } from '../place.js';
import { PLAIN } from '../write/contained-resources.js';
import type { CommandOptions } from '../write/command-options.js';
import type { Transactions } from '../write/transaction.js';
import { isStreamLost, openWrittenStream, type Written } from './stream.js';

/** The `_id` of the one document of `log`. */
export const LOG = 'log';

/** Times of the process that numbers, in milliseconds. */
const LOG_TIMES = {
  /** How long it may do without a sign of life. A transaction that a dead process left open is ended after five seconds more. */
  lease: 8000,
  /** Between two signs of life where nothing is written. */
  beat: 3000,
  /** Between two batches under load. */
  batch: 100,
};

/** Versions that are numbered together. */
const AT_ONCE = 1000;

/** How far before the last number a lost stream is made up for, in milliseconds: more than clocks differ and commits take. */
const BEFORE = 3 * COMMIT_DELAY;

/** Another process numbers now. */
class LeaseLost extends Error {}

/** Parts of the store that numbering works with. */
export interface NumberingParts {
  readonly collections: Collections;
  readonly causal: Causal;
  readonly transactions: Transactions;
  readonly now: () => number;
  /** How long a command may take, in milliseconds. */
  readonly time: number;
  /** Names this process. */
  readonly holder: string;
  /** How long after it was needed last the log goes on, in milliseconds. */
  readonly keep: number;
}

/**
 * Numbers versions in the order of their commits: one process at a time reads the change stream and appends to `change`, with its place
 * in the stream and its epoch in the same transaction, so that each version gets one number, also where a process dies.
 */
export interface Numbering {
  /**
   * Takes the lease where it is free, and numbers until it is lost, the log is not needed any more, or the signal aborts.
   *
   * @param appended is called after each batch
   * @returns false: another process has the lease
   */
  run(signal: AbortSignal, appended: () => void): Promise<boolean>;
}

/** Opens nothing yet. */
export function openNumbering(parts: NumberingParts): Numbering {
  const { collections, causal, transactions, now, time, holder, keep } = parts;
  const { resource, history, change, log } = collections;

  async function take(): Promise<LogDocument | undefined> {
    const isFree = [{ until: { $exists: false } }, { until: { $lte: new Date(now()) } }, { holder }];
    const until = new Date(now() + LOG_TIMES.lease);
    const filter = { _id: LOG, start: { $exists: true }, $or: isFree };
    const taken = await causal.write((session) =>
      log.findOneAndUpdate(
        filter,
        { $inc: { epoch: 1 }, $set: { holder, until } },
        { session, maxTimeMS: time, returnDocument: 'after' },
      ),
    );
    return taken ?? undefined;
  }

  /** Gives numbers to versions, and keeps the place. @throws LeaseLost */
  async function append(state: LogDocument, written: readonly Written[], token: unknown): Promise<LogDocument> {
    return transactions.run(async (_session, given) => {
      const fresh = await withInterim(await withoutKnown(written, state, given), given);
      const rows = fresh.map((row, i): ChangeDocument => ({ _id: state.seq + 1 + i, ...row }));
      const seq = state.seq + rows.length;
      const set = { seq, until: new Date(now() + LOG_TIMES.lease), ...(token !== undefined && { token }) };
      const mine = { _id: LOG, epoch: state.epoch };
      const next = await log.findOneAndUpdate(mine, { $set: set }, { ...given(), returnDocument: 'after' });
      if (next === null) throw new LeaseLost();
      if (rows.length > 0) await change.insertMany(rows, given());
      return next;
    }, performance.now() + time);
  }

  /** After a stream was lost, what was found by its time comes in the new stream too. */
  async function withoutKnown(
    written: readonly Written[],
    { recovered }: LogDocument,
    given: CommandOptions,
  ): Promise<readonly Written[]> {
    if (recovered === undefined) return written;
    const old = written.filter(({ updated }) => updated.getTime() <= recovered.getTime() + BEFORE);
    if (old.length === 0) return written;
    const filter = { $or: old.map(({ type, id, version }) => ({ type, id, version })) };
    const known = await change.find(filter, given()).toArray();
    const keys = new Set(known.map((each) => identityOf(each)));
    return written.filter((each) => !keys.has(identityOf(each)));
  }

  /** The rows of versions; those that the same write replaced come before their successors, as the stream does not have them. */
  async function withInterim(
    written: readonly Written[],
    given: CommandOptions,
  ): Promise<Omit<ChangeDocument, '_id'>[]> {
    const rows: Omit<ChangeDocument, '_id'>[] = [];
    const later = written.filter(({ version }) => version > 1);
    const past = await readPast(later, given);
    for (const each of written) {
      const chain: Written[] = [each];
      let before = past.get(beforeOf(each));
      while (before?.interim === true) {
        chain.unshift(before);
        before = before.version === 1 ? undefined : (await readPast([before], given)).get(beforeOf(before));
      }
      for (const one of chain) {
        const isNew = one.version === 1 || before?.deleted === true;
        const interaction = one.deleted === true ? 'delete' : isNew ? 'create' : 'update';
        const { type, id, version, updated } = one;
        rows.push({ type, id, version, updated, interaction });
        before = one;
      }
    }
    return rows;
  }

  type Past = Written & { readonly interim?: true };

  async function readPast(versions: readonly Written[], given: CommandOptions): Promise<ReadonlyMap<string, Past>> {
    if (versions.length === 0) return new Map();
    const projection = { type: 1, id: 1, version: 1, updated: 1, deleted: 1, interim: 1 };
    const found = await history.find({ _id: { $in: versions.map(beforeOf) } }, { ...given(), projection }).toArray();
    return new Map(found.map((each) => [each._id, each as Past]));
  }

  /**
   * Makes up for a stream whose place the server has forgotten: what was written since the last number is found by its time. The order is
   * that of times then, and of each resource that of its versions.
   */
  async function recover(state: LogDocument): Promise<LogDocument> {
    const recovered = new Date(now());
    const start = await operationTime();
    const last = await change.find().sort({ _id: -1 }).limit(1).next();
    const from =
      last === null ? (state.began ?? state.needed).getTime() - COMMIT_DELAY : last.updated.getTime() - BEFORE;
    // What is older was numbered, and forgotten.
    const since = new Date(Math.max(from, state.trimmed?.getTime() ?? 0));
    let current = { ...state, recovered };
    const projection = { type: 1, id: 1, version: 1, updated: 1, n: 1, deleted: 1 };
    const filter = { updated: { $gte: since } };
    const sources = [
      history.find({ ...filter, pending: { $ne: true } } as never, { projection }).sort(BY_TIME),
      resource.find({ ...filter, type: PLAIN } as never, { projection }).sort(BY_TIME),
    ];
    type Found = Written & { readonly n: number };
    const heads = (await Promise.all(sources.map((source) => source.next()))) as (Found | null)[];
    let some: Written[] = [];
    const flush = async (): Promise<void> => {
      // With `recovered`: what has a number already is left out.
      current = { ...(await append({ ...current, recovered }, some, undefined)), recovered };
      some = [];
    };
    for (;;) {
      const [a = null, b = null] = heads;
      if (a === null && b === null) break;
      const isFirst = b === null || (a !== null && comparePlaces(placeOf(a), placeOf(b)) < 0);
      const at = isFirst ? 0 : 1;
      some.push(heads[at]!);
      heads[at] = (await sources[at]!.next()) as Found | null;
      if (some.length >= AT_ONCE / 2) await flush();
    }
    await flush();
    const update = { $set: { start, recovered }, $unset: { token: '' as const } };
    const { matchedCount } = await log.updateOne({ _id: LOG, epoch: state.epoch }, update);
    if (matchedCount === 0) throw new LeaseLost();
    const { token: _token, ...rest } = current;
    return { ...rest, start };
  }

  async function operationTime() {
    return causal.write(async (session) => {
      await log.updateOne({ _id: LOG }, { $set: { needed: new Date(now()) } }, { session });
      if (session.operationTime === undefined) throw new Error('the server returned no operation time');
      return session.operationTime;
    });
  }

  /** Ends the log where it is needed no more. @returns false: it is needed again */
  async function end({ epoch, needed, seq }: LogDocument): Promise<boolean> {
    const update = { $unset: { start: '', token: '', began: '', recovered: '' }, $set: { floor: seq } } as const;
    const { matchedCount } = await log.updateOne({ _id: LOG, epoch, needed }, update);
    if (matchedCount === 1) await change.deleteMany({ _id: { $lte: seq } });
    return matchedCount === 1;
  }

  async function number(first: LogDocument, signal: AbortSignal, appended: () => void): Promise<void> {
    let state = first;
    const place = state.token === undefined ? { startAtOperationTime: state.start! } : { resumeAfter: state.token };
    const stream = openWrittenStream(collections, place);
    const stop = (): void => void stream.close();
    signal.addEventListener('abort', stop, { once: true });
    try {
      let beat = performance.now();
      while (!signal.aborted) {
        const { written, token } = await stream.take(AT_ONCE, LOG_TIMES.beat);
        if (signal.aborted) return;
        const isDue = performance.now() - beat >= LOG_TIMES.beat - 100;
        if (written.length === 0 && !isDue) continue;
        state = await append(state, written, token ?? state.token);
        beat = performance.now();
        if (now() - state.needed.getTime() > keep && (await end(state))) return;
        if (written.length === 0) continue;
        appended();
        if (written.length < AT_ONCE) await sleep(LOG_TIMES.batch);
      }
    } finally {
      signal.removeEventListener('abort', stop);
      await stream.close();
    }
  }

  return {
    async run(signal, appended) {
      let state = await take();
      if (state === undefined) return false;
      try {
        for (;;) {
          try {
            await number(state, signal, appended);
            break;
          } catch (error) {
            if (!isStreamLost(error) || signal.aborted) throw error;
            state = (await log.findOne({ _id: LOG, epoch: state.epoch })) ?? undefined;
            if (state === undefined) return true;
            state = await recover(state);
            appended();
          }
        }
      } catch (error) {
        if (error instanceof LeaseLost || signal.aborted) return true;
        throw error;
      } finally {
        // The next process need not wait. One that took it over has another epoch.
        const mine = { _id: LOG, holder, ...(state !== undefined && { epoch: state.epoch }) };
        if (signal.aborted) await log.updateOne(mine, { $unset: { until: '' } }).catch(() => {});
      }
      return true;
    },
  };
}

function beforeOf(each: Written): string {
  return pastKeyOf(keyOf(each), each.version - 1);
}

function identityOf({ type, id, version, updated }: Written): string {
  return `${pastKeyOf(keyOf({ type, id }), version)} ${updated.getTime()}`;
}

function placeOf({ type, id, updated, n }: Written & { readonly n: number }) {
  return { type, id, n, updated: updated.getTime() };
}
