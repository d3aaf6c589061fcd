import { Long, Timestamp, type Document } from 'mongodb';
import { setTimeout as sleep } from 'node:timers/promises';

import { onCursor, ShardError, succeeded, type MergedCursor } from './cursors.js';
import type { Shards } from './shards.js';

/** How long a shard waits for an event before the others are asked, in milliseconds. */
const TURN = 50;
/** How long an answer waits for an event where the client does not say, in milliseconds. */
const PATIENCE = 1000;

interface Feed {
  readonly shard: number;
  readonly id: Long;
  readonly waiting: Document[];
  /** What comes later has a greater token. */
  mark: string;
}

/** A change stream of all shards, and the place up to which it has told everything. */
export interface MergedStream extends MergedCursor {
  place(): Document;
  poll(shards: Shards, wait: number): Promise<Document[]>;
}

/** Whether a pipeline is a change stream. */
export function isChangeStream(pipeline: readonly Document[]): boolean {
  return pipeline[0] !== undefined && '$changeStream' in pipeline[0];
}

/**
 * Opens a stream on each shard at one moment. Events come in the order of their tokens, which begin with the time of the cluster; one
 * comes when no shard can have an earlier one any more. What a token has told already is left out by its order.
 *
 * @throws ShardError
 */
export async function openStream(
  shards: Shards,
  command: Document,
  now: Timestamp,
  namespace: string,
): Promise<MergedStream> {
  const [{ $changeStream: options }, ...rest] = command['pipeline'] as [Document, ...Document[]];
  const { resumeAfter, startAfter, startAtOperationTime, ...others } = options as Document;
  const token = ((resumeAfter ?? startAfter) as Document | undefined)?.['_data'] as string | undefined;
  const next = new Timestamp({ t: now.getHighBits() >>> 0, i: (now.getLowBits() >>> 0) + 1 });
  const start = token === undefined ? ((startAtOperationTime as Timestamp | undefined) ?? next) : timeOf(token);
  const pipeline = [{ $changeStream: { ...others, startAtOperationTime: start } }, ...rest];
  const answers = await Promise.all(
    Array.from({ length: shards.count }, (_, shard) => shards.send(shard, { ...command, pipeline })),
  );
  let told = token ?? '';
  const feeds = answers.map((answer, shard): Feed => {
    const { id, firstBatch, postBatchResumeToken } = succeeded(answer)['cursor'] as Document;
    const feed = { shard, id: Long.fromValue(id as Long), waiting: [], mark: '' };
    take(feed, firstBatch as Document[], postBatchResumeToken as Document);
    return feed;
  });

  function take(feed: Feed, events: readonly Document[], mark: Document | undefined): void {
    feed.waiting.push(...events.filter((event) => tokenOf(event) > told));
    feed.mark = (mark?.['_data'] as string | undefined) ?? feed.mark;
  }

  async function ask(feed: Feed): Promise<void> {
    if (feed.waiting.length > 0) return;
    const more = onCursor(command, namespace, (collection) => ({ getMore: feed.id, collection, maxTimeMS: TURN }));
    const { cursor } = succeeded(await shards.send(feed.shard, more));
    const { id, nextBatch, postBatchResumeToken } = cursor as Document;
    take(feed, nextBatch as Document[], postBatchResumeToken as Document);
    if (Long.fromValue(id as Long).isZero())
      throw new ShardError({ ok: 0, code: 280, errmsg: 'a shard closed its stream' });
  }

  /** Events that no shard can precede any more. */
  async function ready(): Promise<Document[]> {
    const events: Document[] = [];
    for (;;) {
      const heads = feeds.filter(({ waiting }) => waiting.length > 0);
      const first = heads.sort((a, b) => (tokenOf(a.waiting[0]!) < tokenOf(b.waiting[0]!) ? -1 : 1))[0];
      if (first === undefined) return events;
      const token = tokenOf(first.waiting[0]!);
      const behind = feeds.filter(({ waiting, mark }) => waiting.length === 0 && mark <= token);
      if (behind.length > 0) {
        // An idle shard would say nothing for ten seconds.
        for (const { shard } of behind)
          await shards.send(shard, { appendOplogNote: 1, data: { by: 'router' }, $db: 'admin' });
        return events;
      }
      told = token;
      events.push(first.waiting.shift()!);
    }
  }

  const stream: MergedStream = {
    namespace,
    place() {
      const isWaiting = feeds.some(({ waiting }) => waiting.length > 0);
      const least = feeds.map(({ mark }) => mark).sort()[0]!;
      const place = isWaiting ? told : [told, least].sort()[1]!;
      return { _data: place === '' ? least : place };
    },
    async poll(_shards, wait) {
      for (const end = performance.now() + wait; ;) {
        await Promise.all(feeds.map(ask));
        const events = await ready();
        if (events.length > 0 || performance.now() > end) return events;
        await sleep(1);
      }
    },
    async next() {
      return { batch: await stream.poll(shards, PATIENCE), isOver: false };
    },
    async close() {
      for (const { shard, id } of feeds) {
        const kill = onCursor(command, namespace, (killCursors) => ({ killCursors, cursors: [id] }));
        await shards.send(shard, kill).catch(() => {});
      }
    },
  };
  return stream;
}

function tokenOf(event: Document): string {
  return (event['_id'] as { _data: string })._data;
}

/** The moment that a token begins with. */
function timeOf(token: string): Timestamp {
  return new Timestamp({ t: parseInt(token.slice(2, 10), 16), i: parseInt(token.slice(10, 18), 16) });
}
