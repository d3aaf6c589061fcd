import type { Document, Timestamp } from 'mongodb';

import { compareTimes, laterOf } from './compare-values.js';
import { openConnection, type ServerConnection } from './wire.js';

/** Commands whose time later reads have to reach. A note that brings a shard forward is none: the others would follow it. */
const WRITES = new Set([
  ...['insert', 'update', 'delete', 'findAndModify', 'commitTransaction'],
  ...['createIndexes', 'create', 'drop', 'dropDatabase'],
]);

/** The clock that the shards share: a router carries the time of each to the others. */
export interface ClusterClock {
  /** The latest moment at which a shard wrote for a client; absent before the first answer. */
  written(): Timestamp | undefined;
  /** Notes what an answer says. */
  note(shard: number, answer: Document, isWrite: boolean): void;
  /** A command with the time of the cluster. */
  stamp(command: Document): Document;
  /** How far the log of a shard is, as far as is known. */
  reached(shard: number): Timestamp | undefined;
}

/** Knows no time yet. */
export function createClock(): ClusterClock {
  let clusterTime: Document | undefined;
  const reached: (Timestamp | undefined)[] = [];
  let written: Timestamp | undefined;
  return {
    written: () => written,
    note(shard, { $clusterTime, operationTime }, isWrite) {
      const own = $clusterTime as Document | undefined;
      const [time, known] = [own?.['clusterTime'], clusterTime?.['clusterTime']] as (Timestamp | undefined)[];
      if (time !== undefined && (known === undefined || compareTimes(known, time) < 0)) clusterTime = own;
      reached[shard] = laterOf(reached[shard], operationTime as Timestamp | undefined);
      if (isWrite || written === undefined) written = laterOf(written, operationTime as Timestamp | undefined);
    },
    stamp: (command) => (clusterTime === undefined ? command : { ...command, $clusterTime: clusterTime }),
    reached: (shard) => reached[shard],
  };
}

/** Connections of one client to all shards. */
export interface Shards {
  readonly count: number;
  /** Sends a command to a shard, when that has reached the moment which the command is to be of. */
  send(shard: number, command: Document): Promise<Document>;
  close(): void;
}

/** Connects to none yet. @param hosts the primary of each shard */
export function openShards(hosts: readonly string[], clock: ClusterClock): Shards {
  const connections = hosts.map((host): ServerConnection => openConnection(host));

  async function send(shard: number, command: Document): Promise<Document> {
    const answer = await connections[shard]!.send(clock.stamp(command));
    clock.note(shard, answer, WRITES.has(Object.keys(command)[0]!));
    return answer;
  }

  /** An idle shard writes nothing, and would wait for a moment that others are at. */
  async function catchUp(shard: number, time: Timestamp): Promise<void> {
    const reached = clock.reached(shard);
    if (reached !== undefined && compareTimes(reached, time) >= 0) return;
    await send(shard, { appendOplogNote: 1, data: { by: 'router' }, $db: 'admin' });
  }

  return {
    count: hosts.length,
    async send(shard, command) {
      const concern = command['readConcern'] as Document | undefined;
      const time = (concern?.['atClusterTime'] ?? concern?.['afterClusterTime']) as Timestamp | undefined;
      if (time !== undefined) await catchUp(shard, time);
      return send(shard, command);
    },
    close() {
      for (const each of connections) each.close();
    },
  };
}
