import { BSON, Long, type Document } from 'mongodb';

import { compareValues } from './compare-values.js';
import type { Shards } from './shards.js';

/** Name of the sort key that each shard adds to its documents. */
const SORT_KEY = '__sortKey';

/** An answer holds at most so many bytes of documents, one document at least. */
const MAX_BYTES = 16 * 1024 * 1024;
const FIRST_BATCH = 101;

/** Documents that several shards have, as one list. */
export interface MergedCursor {
  readonly namespace: string;
  /** The next documents, and whether there may be more. @throws ShardError */
  next(shards: Shards, count: number | undefined): Promise<{ readonly batch: Document[]; readonly isOver: boolean }>;
  close(shards: Shards): Promise<void>;
}

/** A shard answered with an error, which the client gets. */
export class ShardError extends Error {
  constructor(readonly answer: Document) {
    super(String(answer['errmsg']));
  }
}

/** Throws what a shard answered where that is an error. */
export function succeeded(answer: Document): Document {
  if (Number(answer['ok']) !== 1) throw new ShardError(answer);
  return answer;
}

/** A cursor of one shard, with the documents that it has given already. */
interface Source {
  readonly shard: number;
  id: Long;
  waiting: Document[];
}

/** A find as it is sent to each shard: its results are merged by the sort key, and skipped here. */
export function forShards(find: Document): Document {
  const { skip, limit, projection, ...rest } = find;
  const most = limit === undefined ? undefined : Number(limit) + Number(skip ?? 0);
  return {
    ...rest,
    ...(most !== undefined && { limit: most }),
    ...(most !== undefined && find['batchSize'] !== undefined && { batchSize: most + 1 }),
    projection: isSorted(find)
      ? { ...(projection as Document | undefined), [SORT_KEY]: { $meta: 'sortKey' } }
      : projection,
  };
}

function isSorted({ sort }: Document): boolean {
  return sort !== undefined && Object.keys(sort as Document).length > 0;
}

/** Merges what shards answered to a find. */
export function mergeFind(find: Document, namespace: string, answers: ReadonlyMap<number, Document>): MergedCursor {
  const sources = sourcesOf(answers);
  const directions = Object.values((find['sort'] as Document | undefined) ?? {}).map(Number);
  const compare = isSorted(find) ? (a: Document, b: Document): number => compareKeys(a, b, directions) : () => 0;
  const limit = Number(find['limit'] ?? 0) || Infinity;
  return merge({ sources, command: find, namespace, compare, skip: Number(find['skip'] ?? 0), limit });
}

/** Documents of shards one after the other. */
export function chain(command: Document, namespace: string, answers: ReadonlyMap<number, Document>): MergedCursor {
  return merge({ sources: sourcesOf(answers), command, namespace, compare: () => 0, skip: 0, limit: Infinity });
}

/** A command that goes on with a cursor of a shard, in the session of the command that opened it. */
export function onCursor(command: Document, namespace: string, first: (collection: string) => Document): Document {
  const [db, ...collection] = namespace.split('.');
  const session = ['lsid', 'txnNumber', 'autocommit'].filter((name) => command[name] !== undefined);
  const own = Object.fromEntries(session.map((name) => [name, command[name] as unknown]));
  return { ...first(collection.join('.')), ...own, $db: db };
}

function sourcesOf(answers: ReadonlyMap<number, Document>): Source[] {
  return [...answers].map(([shard, answer]) => {
    const { id, firstBatch } = succeeded(answer)['cursor'] as { id: Long; firstBatch: Document[] };
    return { shard, id: Long.fromValue(id), waiting: [...firstBatch] };
  });
}

function compareKeys(a: Document, b: Document, directions: readonly number[]): number {
  const [left, right] = [a[SORT_KEY], b[SORT_KEY]] as unknown[][];
  for (const [i, direction] of directions.entries()) {
    const order = compareValues(left![i], right![i]) * direction;
    if (order !== 0) return order;
  }
  return 0;
}

function merge({
  sources,
  command,
  namespace,
  compare,
  ...bounds
}: {
  readonly sources: readonly Source[];
  readonly command: Document;
  readonly namespace: string;
  readonly compare: (a: Document, b: Document) => number;
  readonly skip: number;
  readonly limit: number;
}): MergedCursor {
  let { skip, limit } = bounds;

  async function fill(shards: Shards, source: Source): Promise<void> {
    while (source.waiting.length === 0 && !source.id.isZero()) {
      const more = onCursor(command, namespace, (collection) => ({ getMore: source.id, collection }));
      const { cursor } = succeeded(await shards.send(source.shard, more));
      source.waiting = [...(cursor['nextBatch'] as Document[])];
      source.id = Long.fromValue(cursor['id'] as Long);
    }
  }

  async function least(shards: Shards): Promise<Source | undefined> {
    await Promise.all(sources.map((source) => fill(shards, source)));
    const full = sources.filter(({ waiting }) => waiting.length > 0);
    return full.reduce<Source | undefined>(
      (a, b) => (a !== undefined && compare(a.waiting[0]!, b.waiting[0]!) <= 0 ? a : b),
      undefined,
    );
  }

  return {
    namespace,
    async next(shards, count = FIRST_BATCH) {
      const batch: Document[] = [];
      let bytes = 0;
      while (limit > 0) {
        const source = await least(shards);
        if (source === undefined) return { batch, isOver: true };
        if (batch.length >= count) return { batch, isOver: false };
        const { [SORT_KEY]: _key, ...document } = source.waiting[0]!;
        const size = BSON.calculateObjectSize(document);
        if (batch.length > 0 && bytes + size > MAX_BYTES) return { batch, isOver: false };
        source.waiting.shift();
        if (skip > 0) {
          skip--;
          continue;
        }
        bytes += size;
        limit--;
        batch.push(document);
      }
      await this.close(shards);
      return { batch, isOver: true };
    },
    async close(shards) {
      const open = sources.filter(({ id }) => !id.isZero());
      const kill = ({ id }: Source): Document =>
        onCursor(command, namespace, (killCursors) => ({ killCursors, cursors: [id] }));
      await Promise.all(open.map((source) => shards.send(source.shard, kill(source)).catch(() => {})));
    },
  };
}
