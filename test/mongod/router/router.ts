import { Long, type Document, type Timestamp } from 'mongodb';
import { createServer, type AddressInfo, type Socket } from 'node:net';

import { chain, forShards, mergeFind, ShardError, succeeded, type MergedCursor } from './cursors.js';
import { isChangeStream, openStream, type MergedStream } from './change-streams.js';
import { laterOf } from './compare-values.js';
import { splitPipeline } from './pipelines.js';
import { isTargeted, keyField, SHARD_KEYS, shardsOf } from './shard-keys.js';
import { createClock, openShards, type ClusterClock, type Shards } from './shards.js';
import { createTransactions, isInTransaction, statementFor, type RoutedTransactions } from './transactions.js';
import { parseMessage, printAnswer, readMessages } from './wire.js';
import { mergeWrites, splitWrite, type WriteName } from './writes.js';

/** Codes of errors. https://github.com/mongodb/mongo/blob/master/src/mongo/base/error_codes.yml */
const CODE = {
  cursorNotFound: 43,
  commandNotFound: 59,
  shardKeyNotFound: 61,
  cannotCreateIndex: 67,
  noSuchTransaction: 251,
};

/** A router of a sharded cluster, for tests. */
export interface Router {
  /** Connection string without a database. */
  readonly url: string;
  /** How many commands went to how many shards: `find 3` to how often. */
  readonly sent: ReadonlyMap<string, number>;
  close(): Promise<void>;
}

/** Parts that the clients of a router share. */
interface Shared {
  readonly hosts: readonly string[];
  readonly clock: ClusterClock;
  readonly transactions: RoutedTransactions;
  readonly cursors: Map<string, MergedCursor | MergedStream>;
  readonly sent: Map<string, number>;
  readonly databases: Set<string>;
  /** Commits on several shards; who reads a moment waits for them. */
  readonly commits: Set<Promise<unknown>>;
  cursorId: number;
}

/**
 * Routes commands to replica sets as a router of MongoDB does: by the shard keys of docs/scaling.md, with merged cursors, and an error where
 * a router gives one. It carries times from set to set, so that a moment is the same on all. It commits on one set after the other, while
 * no other command may choose a moment: what happens when a set dies between two commits it does not show.
 *
 * @param hosts the primary of each replica set
 */
export async function startRouter(hosts: readonly string[]): Promise<Router> {
  const shared: Shared = {
    hosts,
    clock: createClock(),
    transactions: createTransactions(),
    cursors: new Map(),
    sent: new Map(),
    databases: new Set(),
    commits: new Set(),
    cursorId: 0,
  };
  const first = openShards(hosts, shared.clock);
  for (const [shard] of hosts.entries()) await first.send(shard, { ping: 1, $db: 'admin' });
  const sockets = new Set<Socket>();
  const server = createServer((socket) => {
    sockets.add(socket);
    serve(socket, shared, () => sockets.delete(socket));
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  return {
    url: `mongodb://127.0.0.1:${(server.address() as AddressInfo).port}/`,
    sent: shared.sent,
    async close() {
      first.close();
      for (const socket of sockets) socket.destroy();
      await new Promise<void>((resolve) => server.close(() => resolve()));
    },
  };
}

/** Answers the commands of a client, one after the other. */
function serve(socket: Socket, shared: Shared, onClose: () => void): void {
  const shards = openShards(shared.hosts, shared.clock);
  let last: Promise<unknown> = Promise.resolve();
  socket.setNoDelay(true);
  socket.on('error', () => {});
  socket.on('close', () => {
    shards.close();
    onClose();
  });
  readMessages(socket, (bytes) => {
    const message = parseMessage(bytes);
    last = last.then(async () => {
      const answer = await route(message.command, shards, shared).catch(explain);
      if (message.isAnswered && !socket.destroyed) socket.write(printAnswer(message, stamped(answer, shared.clock)));
    });
  });
}

function explain(error: unknown): Document {
  if (error instanceof ShardError) return error.answer;
  return { ok: 0, code: 8, codeName: 'UnknownError', errmsg: String(error) };
}

/** An answer with the times that causal sessions go by. */
function stamped(answer: Document, clock: ClusterClock): Document {
  const time = clock.written();
  return time === undefined ? answer : { ...clock.stamp(answer), operationTime: time };
}

function refuse(code: number, codeName: string, errmsg: string): never {
  throw new ShardError({ ok: 0, code, codeName, errmsg });
}

/** Does a command. @throws ShardError */
async function route(command: Document, shards: Shards, shared: Shared): Promise<Document> {
  const name = Object.keys(command)[0] ?? '';
  const handler = HANDLERS[name];
  if (handler === undefined) refuse(CODE.commandNotFound, 'CommandNotFound', `no such command: '${name}'`);
  const { $clusterTime: _time, $readPreference: _preference, ...plain } = command;
  return handler({ name, command: plain, shards, shared, db: String(command['$db']) });
}

/** A command with what it takes to do it. */
interface Asked {
  readonly name: string;
  readonly command: Document;
  readonly shards: Shards;
  readonly shared: Shared;
  readonly db: string;
}

type Handler = (asked: Asked) => Promise<Document>;

const allOf = (shards: Shards): ReadonlySet<number> => new Set(Array.from({ length: shards.count }, (_, i) => i));

/** Sends one command, or one for each, to shards, all as a part of the transaction that it is in. */
async function toShards(
  { name, command, shards, shared }: Asked,
  targets: ReadonlySet<number>,
  commandFor: (shard: number) => Document = () => command,
): Promise<ReadonlyMap<number, Document>> {
  shared.sent.set(`${name} ${targets.size}`, (shared.sent.get(`${name} ${targets.size}`) ?? 0) + 1);
  const transaction = await transactionOf({ command, shared });
  const answers = [...targets].map(async (shard): Promise<[number, Document]> => {
    const own = commandFor(shard);
    return [shard, await shards.send(shard, transaction === undefined ? own : statementFor(transaction, shard, own))];
  });
  return new Map(await Promise.all(answers));
}

async function transactionOf({ command, shared }: Pick<Asked, 'command' | 'shared'>) {
  if (!isInTransaction(command)) return undefined;
  // The statements of a first command may go to shards one after the other.
  const begun = shared.transactions.of(command);
  if (begun !== undefined) return begun;
  if (command['startTransaction'] === true) return shared.transactions.begin(command, await momentFor(command, shared));
  refuse(CODE.noSuchTransaction, 'NoSuchTransaction', 'there is no such transaction');
}

/** The moment that a snapshot is of: one that has all that was acknowledged, and no half of a commit. */
async function momentFor(command: Document, { clock, commits }: Shared): Promise<Timestamp | undefined> {
  await Promise.allSettled(commits);
  const { afterClusterTime } = (command['readConcern'] ?? {}) as { afterClusterTime?: Timestamp };
  return laterOf(clock.written(), afterClusterTime);
}

/** A read with the moment that all shards are to read, where it wants one and names none. */
async function atMoment(asked: Asked): Promise<{ readonly asked: Asked; readonly time: Timestamp | undefined }> {
  const { command, shared } = asked;
  const concern = (command['readConcern'] ?? {}) as { level?: string; atClusterTime?: Timestamp };
  if (concern.level !== 'snapshot' || isInTransaction(command)) return { asked, time: undefined };
  const time = concern.atClusterTime ?? (await momentFor(command, shared));
  return {
    asked: { ...asked, command: { ...command, readConcern: { level: 'snapshot', atClusterTime: time } } },
    time,
  };
}

async function answerFrom(
  { command, shards, shared }: Asked,
  cursor: MergedCursor,
  time: Timestamp | undefined,
): Promise<Document> {
  const wanted = (command['batchSize'] ?? (command['cursor'] as Document | undefined)?.['batchSize']) as unknown;
  const { batch, isOver } = await cursor.next(shards, wanted === undefined ? undefined : Number(wanted));
  const id = isOver || command['singleBatch'] === true ? 0 : ++shared.cursorId;
  if (id !== 0) shared.cursors.set(String(id), cursor);
  else await cursor.close(shards);
  const moment = time === undefined ? {} : { atClusterTime: time };
  return { cursor: { firstBatch: batch, id: Long.fromNumber(id), ns: cursor.namespace, ...moment }, ok: 1 };
}

const toFirst: Handler = async (asked) => (await toShards(asked, new Set([0]))).get(0)!;

/** Sends to all, and answers what the first answers, or the first error. */
const toAll: Handler = async (asked) => {
  const answers = [...(await toShards(asked, allOf(asked.shards))).values()];
  return answers.find(({ ok }) => Number(ok) !== 1) ?? answers[0]!;
};

const toOwners: Handler = (asked) =>
  keyField(String(asked.command[asked.name])) === undefined ? toFirst(asked) : toAll(asked);

const find: Handler = async (given) => {
  const { asked, time } = await atMoment(given);
  const { command, db, shards } = asked;
  const collection = String(command['find']);
  if (db === 'config' && collection === 'collections') return shardedCollections(given);
  const field = keyField(collection);
  const filter = (command['filter'] ?? {}) as Document;
  const targets = field === undefined ? new Set([0]) : shardsOf(filter, field, shards.count);
  const wanted = targets.size === 1 ? command : forShards(command);
  const answers = await toShards(asked, targets, () => wanted);
  const namespace = `${db}.${collection}`;
  const cursor = targets.size === 1 ? chain(asked.command, namespace, answers) : mergeFind(command, namespace, answers);
  return answerFrom(asked, cursor, time);
};

/** The catalog of sharded collections, which `kiln doctor --sharding` reads. */
const shardedCollections: Handler = async ({ shared }) => {
  const firstBatch = [...shared.databases].flatMap((db) =>
    Object.entries(SHARD_KEYS).map(([name, key]) => ({ _id: `${db}.${name}`, key })),
  );
  return { cursor: { firstBatch, id: Long.ZERO, ns: 'config.collections' }, ok: 1 };
};

const aggregate: Handler = async (given) => {
  const { command, db, shards, shared } = given;
  const pipeline = command['pipeline'] as Document[];
  const collection = command['aggregate'] as unknown;
  const namespace = `${db}.${typeof collection === 'string' ? collection : '$cmd.aggregate'}`;
  if (typeof collection !== 'string') {
    return answerFrom(given, chain(command, namespace, await toShards(given, allOf(shards))), undefined);
  }
  const field = keyField(collection);
  if (isChangeStream(pipeline) && field !== undefined) {
    const stream = await openStream(shards, command, shared.clock.written()!, namespace);
    const id = ++shared.cursorId;
    shared.cursors.set(String(id), stream);
    const cursor = { firstBatch: [], id: Long.fromNumber(id), ns: namespace, postBatchResumeToken: stream.place() };
    return { cursor, ok: 1 };
  }
  if (field === undefined && isChangeStream(pipeline)) return toFirst(given);
  const { asked, time } = await atMoment(given);
  const filter = (pipeline[0]?.['$match'] ?? {}) as Document;
  const targets = field === undefined ? new Set([0]) : shardsOf(filter, field, shards.count);
  if (targets.size === 1)
    return answerFrom(asked, chain(asked.command, namespace, await toShards(asked, targets)), time);
  const { onShards, merging } = splitPipeline(pipeline);
  const answers = await toShards(asked, targets, () => ({ ...asked.command, pipeline: onShards }));
  const parts = chain(asked.command, namespace, answers);
  if (merging.length === 0) return answerFrom(asked, parts, time);
  const { batch } = await parts.next(shards, Infinity);
  const documents = { $documents: { $literal: batch } };
  const command0 = { aggregate: 1, pipeline: [documents, ...merging], cursor: {}, $db: db };
  const results = chain({}, `${db}.$cmd.aggregate`, new Map([[0, await shards.send(0, command0)]]));
  return answerFrom(asked, results, time);
};

const getMore: Handler = async (asked) => {
  const { command, shards, shared } = asked;
  const id = String(command['getMore']);
  const cursor = shared.cursors.get(id);
  if (cursor === undefined) {
    // A change stream of a collection that is not sharded.
    const answer = await toFirst(asked);
    if (Number(answer['ok']) === 1) return answer;
    refuse(CODE.cursorNotFound, 'CursorNotFound', `cursor id ${id} not found`);
  }
  if ('poll' in cursor) {
    const nextBatch = await cursor.poll(shards, Number(command['maxTimeMS'] ?? 1000));
    const more = { nextBatch, id: Long.fromString(id), ns: cursor.namespace, postBatchResumeToken: cursor.place() };
    return { cursor: more, ok: 1 };
  }
  const size = command['batchSize'] as unknown;
  const { batch, isOver } = await cursor.next(shards, size === undefined ? Infinity : Number(size));
  if (isOver) shared.cursors.delete(id);
  return { cursor: { nextBatch: batch, id: isOver ? Long.ZERO : Long.fromString(id), ns: cursor.namespace }, ok: 1 };
};

const killCursors: Handler = async (asked) => {
  const { command, shards, shared } = asked;
  for (const id of (command['cursors'] as unknown[]).map(String)) {
    const cursor = shared.cursors.get(id);
    shared.cursors.delete(id);
    if (cursor === undefined) await toFirst(asked);
    else await cursor.close(shards);
  }
  return { cursorsKilled: command['cursors'], cursorsNotFound: [], cursorsAlive: [], cursorsUnknown: [], ok: 1 };
};

const write: Handler = async (asked) => {
  const { name, command, shards, shared, db } = asked;
  shared.databases.add(db);
  const field = keyField(String(command[name]));
  if (field === undefined) return toFirst(asked);
  const send = (parts: ReadonlyMap<number, Document>): Promise<ReadonlyMap<number, Document>> =>
    toShards(asked, new Set(parts.keys()), (shard) => parts.get(shard)!);
  return mergeWrites(command, splitWrite(name as WriteName, command, field, shards.count), send);
};

const findAndModify: Handler = async (asked) => {
  const { command, shards } = asked;
  const field = keyField(String(command['findAndModify'] ?? command['findandmodify']));
  if (field === undefined) return toFirst(asked);
  const query = command['query'] as Document;
  if (!isTargeted(query, field))
    refuse(CODE.shardKeyNotFound, 'ShardKeyNotFound', 'Query for sharded findAndModify must contain the shard key');
  const [target] = shardsOf(query, field, shards.count);
  return (await toShards(asked, new Set([target!]))).get(target!)!;
};

/** A unique index has to begin with the shard key; each shard knows its own documents alone. */
const createIndexes: Handler = async (asked) => {
  const { command, shared, db } = asked;
  shared.databases.add(db);
  const key = SHARD_KEYS[String(command['createIndexes'])];
  const unique = (command['indexes'] as Document[]).find((each) => each['unique'] === true);
  const fields = Object.keys((unique?.['key'] ?? {}) as Document);
  if (key !== undefined && unique !== undefined && !Object.keys(key).every((field, i) => fields[i] === field))
    refuse(CODE.cannotCreateIndex, 'CannotCreateIndex', `cannot create unique index over ${fields.join()} with shard key pattern`); // prettier-ignore
  return toOwners(asked);
};

const count: Handler = async (asked) => {
  if (keyField(String(asked.command['count'])) === undefined) return toFirst(asked);
  const answers = [...(await toShards(asked, allOf(asked.shards))).values()].map(succeeded);
  return { n: answers.reduce((sum, { n }) => sum + Number(n), 0), ok: 1 };
};

const endTransaction: Handler = async ({ name, command, shards, shared }) => {
  const targets = shared.transactions.of(command)?.shards;
  if (targets === undefined) refuse(CODE.noSuchTransaction, 'NoSuchTransaction', 'there is no such transaction');
  const { recoveryToken: _token, ...plain } = command;
  const { lsid, txnNumber } = command;
  const abort = { abortTransaction: 1, lsid, txnNumber, autocommit: false, $db: 'admin' };
  const send = async (): Promise<Document> => {
    let failed: Document | undefined;
    for (const shard of targets) {
      const answer = await shards.send(shard, failed === undefined ? plain : abort);
      if (Number(answer['ok']) !== 1 || answer['writeConcernError'] !== undefined) failed ??= answer;
    }
    return failed ?? { ok: 1 };
  };
  if (targets.size <= 1 || name === 'abortTransaction') return send();
  const committed = send();
  shared.commits.add(committed);
  return committed.finally(() => shared.commits.delete(committed));
};

/** How a router shows the plans of shards. */
const explainCommand: Handler = async (asked) => {
  const { command, shards } = asked;
  const explained = command['explain'] as Document;
  const [kind] = Object.keys(explained);
  const field = keyField(String(explained[kind!]));
  if (field === undefined) return toFirst(asked);
  const filter = (explained['filter'] ??
    (explained['pipeline'] as Document[] | undefined)?.[0]?.['$match'] ??
    {}) as Document;
  const targets = shardsOf(filter, field, shards.count);
  const pipeline = explained['pipeline'] as Document[] | undefined;
  const own =
    pipeline === undefined || targets.size === 1
      ? explained
      : { ...explained, pipeline: splitPipeline(pipeline).onShards };
  const answers = await toShards(asked, targets, () => ({ ...command, explain: own }));
  const plans = [...answers].map(([shard, answer]) => ({ shardName: `shard${shard}`, ...succeeded(answer) }));
  if (pipeline !== undefined) return { shards: Object.fromEntries(plans.map((plan) => [plan.shardName, plan])), ok: 1 };
  const stats = plans.map((plan) => ({ shardName: plan.shardName, ...(plan as Document)['executionStats'] }));
  const sum = (name: string): number => stats.reduce((total, each) => total + Number((each as Document)[name]), 0);
  const stage = targets.size === 1 ? 'SINGLE_SHARD' : 'SHARD_MERGE';
  const totals = {
    nReturned: sum('nReturned'),
    totalKeysExamined: sum('totalKeysExamined'),
    totalDocsExamined: sum('totalDocsExamined'),
  };
  return {
    queryPlanner: { winningPlan: { stage, shards: plans.map(({ shardName }) => ({ shardName })) } },
    executionStats: { ...totals, executionStages: { stage, ...totals, shards: stats } },
    ok: 1,
  };
};

const hello: Handler = async () => ({
  ...{ ismaster: true, isWritablePrimary: true, msg: 'isdbgrid', readOnly: false, ok: 1 },
  ...{ maxBsonObjectSize: 16_777_216, maxMessageSizeBytes: 48_000_000, maxWriteBatchSize: 100_000 },
  ...{ localTime: new Date(), logicalSessionTimeoutMinutes: 30, minWireVersion: 0, maxWireVersion: 17 },
});

/** Commands that a router takes, and what it does with each. */
const HANDLERS: Readonly<Record<string, Handler>> = {
  ...{ hello, isMaster: hello, ismaster: hello, find, aggregate, getMore, killCursors, count },
  ...{ insert: write, update: write, delete: write, findAndModify, createIndexes, explain: explainCommand },
  ...{ commitTransaction: endTransaction, abortTransaction: endTransaction },
  ...{ endSessions: toAll, killSessions: toAll, dropDatabase: toAll, drop: toOwners, create: toOwners },
  ...{
    dropIndexes: toOwners,
    collMod: toOwners,
    listIndexes: toFirst,
    listCollections: toFirst,
    listDatabases: toFirst,
  },
  ...{
    ping: toFirst,
    buildInfo: toFirst,
    collStats: toFirst,
    dbStats: toFirst,
    serverStatus: toFirst,
    connectionStatus: toFirst,
  },
};
