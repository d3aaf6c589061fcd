import { MongoClient, MongoError, MongoServerError, MongoServerSelectionError, type Db } from 'mongodb';

import { APP_NAME } from './write/stale-transactions.js';
import type { MongoSettings } from './settings.js';

/** The name of the database where the URL has none. */
const DATABASE = 'kiln';

/** What a server of this version says it speaks. https://github.com/mongodb/specifications (wire versions) */
const OLDEST = { name: '6.0', wireVersion: 17 };

/** How much longer than the longest query the driver waits for an answer before it gives a connection up, in milliseconds. */
const SOCKET_SLACK = 5000;

/** An open connection to a server that has passed the checks. */
export interface Connected {
  readonly client: MongoClient;
  readonly db: Db;
  /** Whether the server is the router of a sharded cluster. */
  readonly isRouted: boolean;
}

/**
 * Connects to a database, and makes sure that it can do what the store needs: transactions, by a server that is new enough.
 *
 * @param url may hold a password, which no message repeats
 * @throws Error saying what is wrong, and what would be right
 */
export async function connect(url: string, settings: MongoSettings): Promise<Connected> {
  const client = createClient(url, settings);
  try {
    await client.connect();
    const db = client.db(databaseOf(url));
    return { client, db, isRouted: await checkServer(db) };
  } catch (error) {
    await client.close();
    throw explain(error, url);
  }
}

function createClient(url: string, settings: MongoSettings): MongoClient {
  const { poolSize, queryBudget, operationTime, selectionTime, onCommand, onCommandEnd } = settings;
  try {
    const client = new MongoClient(url, {
      appName: APP_NAME,
      // The store relies on these options, so the URL cannot override them.
      readPreference: 'primary',
      readConcern: { level: 'majority' },
      writeConcern: { w: 'majority', journal: true },
      retryWrites: true,
      retryReads: true,
      ignoreUndefined: true,
      maxPoolSize: poolSize,
      serverSelectionTimeoutMS: selectionTime,
      connectTimeoutMS: selectionTime,
      waitQueueTimeoutMS: operationTime,
      socketTimeoutMS: Math.max(queryBudget, operationTime) + SOCKET_SLACK,
      monitorCommands: onCommand !== undefined || onCommandEnd !== undefined,
    });
    if (onCommand !== undefined)
      client.on('commandStarted', ({ commandName, command }) => onCommand(commandName, command));
    if (onCommandEnd !== undefined) timeCommands(client, onCommandEnd);
    return client;
  } catch (error) {
    throw new Error(`the connection string of MongoDB is wrong: ${withoutUrl(error)}`, { cause: error });
  }
}

/** The driver's own times are whole milliseconds. */
function timeCommands(client: MongoClient, ended: NonNullable<MongoSettings['onCommandEnd']>): void {
  const begun = new Map<number, number>();
  const end = (requestId: number, name: string, failed: boolean): void => {
    const start = begun.get(requestId);
    begun.delete(requestId);
    if (start !== undefined) ended(name, performance.now() - start, failed);
  };
  client.on('commandStarted', ({ requestId }) => void begun.set(requestId, performance.now()));
  client.on('commandSucceeded', ({ requestId, commandName }) => end(requestId, commandName, false));
  client.on('commandFailed', ({ requestId, commandName }) => end(requestId, commandName, true));
}

function noPrimary(url: string): string {
  const set = /[?&]replicaSet=([^&]+)/.exec(url)?.[1];
  if (set === undefined) return 'there is no primary';
  return `there is no primary of a replica set "${set}"; a standalone server has to be restarted with --replSet ${set}`;
}

/** The message of an error with connection strings removed: the driver may quote the whole string, with the password. */
function withoutUrl(error: unknown): string {
  const message = error instanceof Error ? error.message : String(error);
  return message.replace(/mongodb(?:\+srv)?:\/\/\S*/g, '…');
}

/** The database that a connection string names. */
export function databaseOf(url: string): string {
  const name = /^mongodb(?:\+srv)?:\/\/[^/?]*\/([^?]+)/.exec(url)?.[1];
  return name === undefined ? DATABASE : decodeURIComponent(name);
}

/** @returns whether it is the router of a sharded cluster. @throws Error where it cannot do what the store needs */
async function checkServer(db: Db): Promise<boolean> {
  const hello = await db.command({ hello: 1 });
  if (Number(hello['maxWireVersion']) < OLDEST.wireVersion) {
    throw new Error(`the MongoDB server is older than ${OLDEST.name}, the oldest that Kiln works with`);
  }
  // A member of a replica set, or the router of a sharded cluster.
  const isRouted = hello['msg'] === 'isdbgrid';
  if (hello['setName'] !== undefined || isRouted) return isRouted;
  if (hello['isreplicaset'] === true) throw new Error(NOT_INITIATED);
  throw new Error(
    'the MongoDB server is standalone, and transactions need a replica set; one member is enough: ' +
      "restart it with --replSet rs0, then run: mongosh --eval 'rs.initiate()'",
  );
}

const NOT_INITIATED = "the MongoDB server waits for its replica set; run: mongosh --eval 'rs.initiate()'";

/** Turns an error of the driver into a message for the operator who starts Kiln. */
function explain(error: unknown, url: string): Error {
  const where = hostsOf(url);
  if (!(error instanceof MongoError)) {
    const isSystem = error instanceof Error && 'syscall' in error;
    return error instanceof Error && !isSystem ? error : new Error(`MongoDB at ${where}: ${withoutUrl(error)}`);
  }
  if (error instanceof MongoServerSelectionError) {
    const servers = [...(error.reason as { servers?: Map<string, { type: string; error?: Error }> }).servers!.values()];
    if (servers.some(({ type }) => type === 'RSGhost')) return new Error(NOT_INITIATED);
    const reasons = new Set(servers.flatMap(({ error: reason }) => reason?.message ?? []));
    const reason = reasons.size === 0 ? noPrimary(url) : [...reasons].join('; ');
    return new Error(`no MongoDB server that takes writes was found at ${where}: ${reason}`);
  }
  if (error instanceof MongoServerError && (error.code === 18 || error.code === 8000)) {
    return new Error(`MongoDB at ${where} refused the user name or the password`);
  }
  if (error instanceof MongoServerError && error.code === 13) {
    return new Error(`the user may not do at ${where} what Kiln needs: readWrite and dbAdmin on its database`);
  }
  return new Error(`MongoDB at ${where}: ${withoutUrl(error)}`);
}

/** The hosts of a connection string, without the user name and password. */
function hostsOf(url: string): string {
  return /^mongodb(?:\+srv)?:\/\/(?:.*@)?([^/?]*)/.exec(url)?.[1] ?? 'the given host';
}
