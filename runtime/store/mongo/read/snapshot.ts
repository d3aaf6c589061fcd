import type { ClientSession, Document, Timestamp } from 'mongodb';
import { setMaxListeners } from 'node:events';

import type { Causal } from './causal.js';
import type { Connected } from '../connect.js';
import type { Raw } from '../bson/bson.js';
import { readBatch, timeOf, type Batch, type ClusterTime } from './batch.js';
import { isTimeUp, storeBusy, tooCostly } from '../mongo-errors.js';

/** Query on one collection. */
export interface FindQuery {
  readonly collection: string;
  readonly filter: Document;
  readonly sort?: Document;
  /** Absent: the server chooses. */
  readonly hint?: Document;
  readonly limit: number;
  readonly projection?: Document;
  /** Bounds of the walk through the index, the first within, the second without. */
  readonly min?: Document;
  readonly max?: Document;
  readonly skip?: number;
}

/** An aggregation whose rows are documents. */
export interface Pipeline {
  readonly collection: string;
  readonly pipeline: readonly Document[];
  /** Absent: the server chooses. */
  readonly hint?: Document;
  /** Not more come, for `pipeline` says so. */
  readonly limit: number;
}

/** Reads of one moment, all within one budget of time. The moment is that of the first of them. */
export interface Snapshot {
  /** Whether a router merges the answers of shards: by a sort alone, not by the order of their indexes. */
  readonly isRouted: boolean;
  time(): Promise<ClusterTime>;
  find(query: FindQuery): Promise<Batch>;
  /** Current versions with some keys, those that are there, in any order. */
  byKeys(keys: readonly string[], projection: Document): Promise<Batch>;
  pipeline(query: Pipeline): Promise<Batch>;
  /** How the server does a command of one of these: it does it, now. */
  explain(command: Document): Promise<Document>;
  /**
   * Few rows: not more than 1,000.
   *
   * @param hint absent: the server chooses
   * @param time how long it may take, in milliseconds, where that is less than the budget; past it rejects (`isTimeUp`)
   */
  aggregate(collection: string, pipeline: readonly Document[], hint?: Document, time?: number): Promise<Document[]>;
}

/** Rows of an aggregation that one answer may hold: more than there are types. */
const MAX_ROWS = 1000;

/** Limits of one query. */
export interface QueryLimits {
  /** Milliseconds. */
  readonly budget: number;
  /** It is stopped as at the end of the budget, but the server may take until then to say so. Milliseconds; absent: the budget. */
  readonly stopAfter?: number;
  readonly signal: AbortSignal | undefined;
  /**
   * The error if the server does not answer within the budget; absent: `store-busy`. The server cannot stop while it
   * parses and plans a query, and queries of searches can be large.
   */
  readonly late?: () => Error;
}

/** How long after the end of its budget the server may say so, in milliseconds. */
const SILENCE = 500;

/** The database that is read. */
export type ReadServer = Pick<Connected, 'db' | 'isRouted'>;

/** Opens snapshots. */
export interface Snapshots {
  /**
   * Runs a query on the present snapshot.
   *
   * @param at on an earlier one instead. The server keeps them for some minutes
   * @throws FhirError `too-costly` past the budget; MongoServerError where the earlier one is gone (`isSnapshotGone`)
   */
  run<T>(limits: QueryLimits, work: (snapshot: Snapshot) => Promise<T>, at?: ClusterTime): Promise<T>;
}

/** @param makeTimestamp the driver's, which is loaded when there is a database */
export function openSnapshots(
  server: ReadServer,
  causal: Causal,
  makeTimestamp: (time: ClusterTime) => Timestamp,
): Snapshots {
  const { db } = server;
  return {
    async run({ budget, stopAfter = budget, signal, late = storeBusy }, work, at) {
      if (budget <= 0) throw tooCostly();
      signal?.throwIfAborted();
      const deadline = performance.now() + Math.min(budget, stopAfter);
      const stop = new AbortController();
      // Each command under way listens to it.
      setMaxListeners(0, stop.signal);
      const onAbort = (): void => stop.abort(signal?.reason);
      signal?.addEventListener('abort', onAbort, { once: true });
      // The server stops by itself at the end of the budget; one that does not say so does not answer at all.
      const timer = setTimeout(() => stop.abort(late()), budget + SILENCE);

      async function command(
        what: Document,
        time: ClusterTime | undefined,
        options: { readonly raw?: boolean; readonly session?: ClientSession },
        atMost = Infinity,
      ): Promise<Document> {
        const atClusterTime = time === undefined ? {} : { atClusterTime: makeTimestamp(time) };
        const readConcern = { level: 'snapshot', ...atClusterTime };
        const left = deadline - performance.now();
        if (left <= 0) throw tooCostly();
        const maxTimeMS = Math.max(1, Math.ceil(Math.min(atMost, left)));
        return db.command({ ...what, readConcern, maxTimeMS }, { ...options, signal: stop.signal });
      }

      function explain(explained: Document): Promise<Document> {
        const maxTimeMS = Math.max(1, Math.ceil(deadline - performance.now()));
        const what = { explain: { ...explained, maxTimeMS }, verbosity: 'executionStats' };
        return db.command(what, { signal: stop.signal });
      }

      let time = at;
      let first: Promise<unknown> | undefined;

      /** The first command is of the newest moment, which holds all that was answered before; the others wait to be of the same. */
      async function send(what: Document, options: { readonly raw?: boolean }, atMost?: number): Promise<Document> {
        // Until `first` is set nothing may be waited for: two would be the first.
        while (time === undefined && first !== undefined) await first.catch(() => {});
        if (time !== undefined) return command(what, time, options, atMost);
        const answer = causal.read((session) => command(what, undefined, { ...options, session }, atMost));
        first = answer
          .then(({ cursor }) => (time = timeOf(cursor as Raw | Document)))
          .finally(() => (first = undefined));
        await first;
        return answer;
      }

      async function timeOfAll(): Promise<ClusterTime> {
        if (time === undefined) await send({ find: 'setting', limit: 1, singleBatch: true }, {});
        return time!;
      }

      try {
        return await work(toSnapshot(server, send, timeOfAll, explain));
      } catch (error) {
        stop.signal.throwIfAborted();
        if (isTimeUp(error)) throw tooCostly();
        throw error;
      } finally {
        clearTimeout(timer);
        signal?.removeEventListener('abort', onAbort);
      }
    },
  };
}

/** Sends a command that reads. @param atMost how long it may take, in milliseconds, where that is less than is left */
export type Send = (what: Document, options: { readonly raw?: boolean }, atMost?: number) => Promise<Document>;

/** Reads of one moment, by whatever way commands are sent. */
export function toSnapshot(
  { db, isRouted }: ReadServer,
  send: Send,
  time: Snapshot['time'],
  explain: Snapshot['explain'],
): Snapshot {
  async function find({ collection, limit, ...query }: FindQuery): Promise<Batch> {
    // Of one more, so that the server sees that there is none, and keeps no cursor.
    const answer = await send({ find: collection, ...query, limit, batchSize: limit + 1 }, { raw: true });
    return readBatch(db, collection, answer['cursor'] as Raw);
  }

  return {
    isRouted,
    time,
    explain,
    find,
    byKeys(keys, projection) {
      const filter = { _id: { $in: [...keys] } };
      return find({ collection: 'resource', filter, hint: { _id: 1 }, projection, limit: keys.length });
    },
    async pipeline({ collection, limit, ...query }) {
      const cursor = { batchSize: limit + 1 };
      const answer = await send({ aggregate: collection, ...query, cursor }, { raw: true });
      return readBatch(db, collection, answer['cursor'] as Raw);
    },
    async aggregate(collection, pipeline, hint, atMost) {
      const cursor = { batchSize: MAX_ROWS };
      const answer = await send({ aggregate: collection, pipeline, cursor, hint }, {}, atMost);
      return (answer['cursor'] as { firstBatch: Document[] }).firstBatch;
    },
  };
}
