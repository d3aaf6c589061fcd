import type { ClientSession, Db, Document, Timestamp } from 'mongodb';
import { setMaxListeners } from 'node:events';

import type { Causal } from './causal.js';
import { fieldsOf, readValue, skipName, type Raw } from './bson.js';
import { isTimeUp, storeBusy, tooCostly } from './mongo-errors.js';

/** A moment of the cluster: seconds, and the operation within the second. */
export interface ClusterTime {
  readonly seconds: number;
  readonly increment: number;
}

/** What is asked of one collection. */
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
  /** Answers keys of the index in place of documents, without reading these. */
  readonly returnKey?: true;
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

/** What one answer of the server held. */
export interface Batch {
  readonly documents: readonly Raw[];
  /** There are more within the limit, but they did not fit into the answer. */
  readonly isCut: boolean;
}

/** Reads of one moment, all within one budget of time. */
export interface Snapshot {
  readonly time: ClusterTime;
  find(query: FindQuery): Promise<Batch>;
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

/** What a query is given. */
export interface QueryLimits {
  /** Milliseconds. */
  readonly budget: number;
  readonly signal: AbortSignal | undefined;
  /**
   * What a client is told where the server is silent past the end of the budget; absent: that it is busy. It cannot stop
   * while it reads and plans a query, and those of searches can be large.
   */
  readonly late?: () => Error;
}

/** How long after the end of its budget the server may say so, in milliseconds. */
const SILENCE = 500;

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
export function openSnapshots(db: Db, causal: Causal, makeTimestamp: (time: ClusterTime) => Timestamp): Snapshots {
  return {
    async run({ budget, signal, late = storeBusy }, work, at) {
      if (budget <= 0) throw tooCostly();
      signal?.throwIfAborted();
      const deadline = performance.now() + budget;
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
        const maxTimeMS = Math.max(1, Math.ceil(Math.min(atMost, deadline - performance.now())));
        return db.command({ ...what, readConcern, maxTimeMS }, { ...options, signal: stop.signal });
      }

      try {
        const time = at ?? (await causal.read((session) => presentTime(command, session)));
        return await work({
          time,
          async find({ collection, limit, ...query }) {
            const answer = await command({ find: collection, ...query, limit, batchSize: limit }, time, { raw: true });
            return readBatch(db, collection, answer['cursor'] as Raw);
          },
          async pipeline({ collection, limit, ...query }) {
            const cursor = { batchSize: limit };
            const answer = await command({ aggregate: collection, ...query, cursor }, time, { raw: true });
            return readBatch(db, collection, answer['cursor'] as Raw);
          },
          explain(explained) {
            const maxTimeMS = Math.max(1, Math.ceil(deadline - performance.now()));
            const what = { explain: { ...explained, maxTimeMS }, verbosity: 'executionStats' };
            return db.command(what, { signal: stop.signal });
          },
          async aggregate(collection, pipeline, hint, atMost) {
            const cursor = { batchSize: MAX_ROWS };
            const answer = await command({ aggregate: collection, pipeline, cursor, hint }, time, {}, atMost);
            return (answer['cursor'] as { firstBatch: Document[] }).firstBatch;
          },
        });
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

/** The moment of the newest snapshot; it holds all that was answered before. */
async function presentTime(
  command: (what: Document, time: undefined, options: { readonly session: ClientSession }) => Promise<Document>,
  session: ClientSession,
): Promise<ClusterTime> {
  const answer = await command({ find: 'setting', limit: 1, singleBatch: true }, undefined, { session });
  const { atClusterTime } = answer['cursor'] as { atClusterTime: Timestamp };
  return { seconds: atClusterTime.t, increment: atClusterTime.i };
}

/** The documents in the bytes of an answer. The cursor behind it, if there is more, is closed. */
function readBatch(db: Db, collection: string, cursor: Raw): Batch {
  const fields = fieldsOf(cursor);
  const [id, batch] = [fields.get('id'), fields.get('firstBatch')];
  if (id === undefined || batch === undefined) throw new Error('an answer of MongoDB has no batch');
  const number = readValue(cursor, id) as bigint;
  if (number !== 0n) void db.command({ killCursors: collection, cursors: [number] }).catch(() => {});
  const documents: Raw[] = [];
  const end = batch.at + cursor.readInt32LE(batch.at) - 1;
  for (let from = batch.at + 4; from < end;) {
    const at = skipName(cursor, from + 1);
    from = at + cursor.readInt32LE(at);
    documents.push(cursor.subarray(at, from));
  }
  return { documents, isCut: number !== 0n };
}
