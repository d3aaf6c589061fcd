import type { Db, Document, Timestamp } from 'mongodb';

import { least } from '../../../fhir/lists.js';
import { idOf, type Raw } from '../bson/bson.js';
import { VERSION_ONLY } from '../bson/stored-version.js';
import { grouped } from '../grouped.js';
import { readBatch, timeOf, type ClusterTime } from './batch.js';
import type { Causal } from './causal.js';

/** Who asks for more asks alone. */
const FEW = 128;

/** What is asked for. */
interface Asked {
  readonly keys: readonly string[];
  /** Absent: the newest. */
  readonly time: ClusterTime | undefined;
  /** How long it may take, in milliseconds. */
  readonly left: number;
}

/** Those that are there, in the order of the keys, and the moment in which they are. */
export interface SharedRead {
  readonly documents: readonly Raw[];
  readonly time: ClusterTime;
}

/**
 * Current versions of one moment, by their keys. Searches that ask for some in one turn of the event loop share a command, if they are of
 * the same moment, or are about to have one.
 *
 * @returns undefined: nothing was read, and the caller asks alone
 */
export type ReadShared = (asked: Asked) => Promise<SharedRead | undefined>;

/** @param makeTimestamp as in `openSnapshots` */
export function openSharedReads(db: Db, causal: Causal, makeTimestamp: (time: ClusterTime) => Timestamp): ReadShared {
  async function send(keys: readonly string[], time: ClusterTime | undefined, left: number): Promise<Raw> {
    const query = {
      find: 'resource',
      filter: { _id: { $in: keys } },
      hint: { _id: 1 },
      projection: VERSION_ONLY,
      limit: keys.length,
      batchSize: keys.length + 1,
      readConcern: { level: 'snapshot', ...(time !== undefined && { atClusterTime: makeTimestamp(time) }) },
      maxTimeMS: Math.max(1, Math.ceil(left)),
    };
    const answer: Document = await (time === undefined
      ? causal.read((session) => db.command(query, { raw: true, session }))
      : db.command(query, { raw: true }));
    return answer['cursor'] as Raw;
  }

  /** Undefined: they do not fit into one answer, or there is none; the own command of each says what is wrong, within its own time. */
  async function readTogether(all: readonly Asked[]): Promise<((asked: Asked) => SharedRead) | undefined> {
    const keys = [...new Set(all.flatMap((asked) => asked.keys))];
    try {
      const cursor = await send(keys, all[0]!.time, least(all.map(({ left }) => left)));
      const { documents, isCut } = readBatch(db, 'resource', cursor);
      if (isCut) return undefined;
      const time = timeOf(cursor);
      const found = new Map(documents.map((bytes) => [idOf(bytes), bytes]));
      return (asked) => ({ documents: asked.keys.flatMap((key) => found.get(key) ?? []), time });
    } catch {
      return undefined;
    }
  }

  const read = grouped<Asked, SharedRead | undefined>(async (all) => {
    const byTime = new Map<string, Asked[]>();
    for (const asked of all) byTime.set(nameOfTime(asked), [...(byTime.get(nameOfTime(asked)) ?? []), asked]);
    const reads = new Map<string, ReturnType<typeof readTogether>>();
    for (const [name, some] of byTime) if (some.length > 1) reads.set(name, readTogether(some));
    return Promise.all(all.map(async (asked) => (await reads.get(nameOfTime(asked)))?.(asked)));
  });
  return async (asked) => (asked.keys.length > FEW ? undefined : read(asked));
}

function nameOfTime({ time }: Asked): string {
  return time === undefined ? '' : `${time.seconds} ${time.increment}`;
}
