import { MongoServerError, type ChangeStream, type Document, type Timestamp } from 'mongodb';

import { PLAIN } from '../write/contained-resources.js';
import type { Collections } from '../bson/documents.js';

/** A version that was written, as the change stream has it. */
export interface Written {
  readonly type: string;
  readonly id: string;
  readonly version: number;
  readonly updated: Date;
  readonly deleted?: true;
}

/** Where a stream begins. */
export type StreamPlace = { readonly resumeAfter: unknown } | { readonly startAtOperationTime: Timestamp };

/** How long the server waits for something to tell, in milliseconds. */
const AWAIT = 1000;

/** Events that are read ahead at most. */
const AHEAD = 10_000;

/**
 * What writes a version: an insert, or a replacement. New index entries are updates; a corrected content and a corrected time are marked.
 * https://www.mongodb.com/docs/manual/reference/change-events/
 */
const PIPELINE: Document[] = [
  {
    $match: {
      operationType: { $in: ['insert', 'replace'] },
      'fullDocument.type': PLAIN,
      'fullDocument.amended': { $exists: false },
      'fullDocument.restamped': { $exists: false },
    },
  },
  {
    $project: Object.fromEntries(
      ['type', 'id', 'version', 'updated', 'deleted'].map((name) => [`fullDocument.${name}`, 1]),
    ),
  },
];

/** An open change stream, read ahead. */
export interface WrittenStream {
  /**
   * What came since the last call, and the place after it; waits for some milliseconds where there is nothing.
   *
   * @throws what the stream failed with
   */
  take(most: number, wait: number): Promise<{ readonly written: readonly Written[]; readonly token: unknown }>;
  close(): Promise<void>;
}

/** Opens the stream of versions that a majority of the servers has, in the order of their commits. */
export function openWrittenStream({ resource }: Pick<Collections, 'resource'>, place: StreamPlace): WrittenStream {
  const stream = resource.watch(PIPELINE, { ...place, maxAwaitTimeMS: AWAIT }) as ChangeStream;
  const events: { readonly written: Written; readonly token: unknown }[] = [];
  let failure: { readonly error: unknown } | undefined;
  let wake: (() => void) | undefined;
  let isFull: (() => void) | undefined;
  let ask: (() => void) | undefined;

  async function pump(): Promise<void> {
    try {
      for (;;) {
        // The server answers with the first event that comes. Asked only when those before were taken, it answers with many under load.
        if (events.length > 0 && stream.bufferedCount() === 0) await new Promise<void>((resolve) => (ask = resolve));
        const event = (await stream.next()) as unknown as { _id: unknown; fullDocument: Written };
        events.push({ written: event.fullDocument, token: event._id });
        if (stream.bufferedCount() === 0 || events.length >= AHEAD) wake?.();
        if (events.length >= AHEAD) await new Promise<void>((resolve) => (isFull = resolve));
      }
    } catch (error) {
      failure = { error };
      wake?.();
    }
  }
  void pump();

  return {
    async take(most, wait) {
      if (events.length === 0 && failure === undefined) {
        ask?.();
        let timer: NodeJS.Timeout | undefined;
        await new Promise<void>((resolve) => {
          wake = resolve;
          timer = setTimeout(resolve, wait);
        });
        clearTimeout(timer);
        wake = undefined;
      }
      // What came before a failure is good.
      if (events.length === 0 && failure !== undefined) throw failure.error;
      // Without events the place moves too: otherwise it would leave the server's memory.
      if (events.length === 0) return { written: [], token: stream.resumeToken };
      const some = events.splice(0, most);
      isFull?.();
      return { written: some.map(({ written }) => written), token: some.at(-1)!.token };
    },
    close: () => stream.close().catch(() => {}),
  };
}

/** Codes of the server: the place is not in its memory any more, or is none. */
const LOST: ReadonlySet<unknown> = new Set([280, 286, 260]);

/** Whether a stream cannot be taken up again at its place. */
export function isStreamLost(error: unknown): boolean {
  return (
    error instanceof MongoServerError && (LOST.has(error.code) || error.hasErrorLabel('NonResumableChangeStreamError'))
  );
}
