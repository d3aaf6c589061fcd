import { MongoServerError, type Db, type Document } from 'mongodb';

import { connect } from './connect.js';
import { toSettings } from './settings.js';

/** One member of a replica set, as the primary sees it. */
export interface MemberState {
  readonly name: string;
  /** PRIMARY, SECONDARY, ARBITER, RECOVERING …, or `(not reachable/healthy)`. */
  readonly state: string;
  readonly isUp: boolean;
  /** How far its data is behind that of the primary, in milliseconds; absent: it has none. */
  readonly lag?: number;
}

/** Facts that the servers of a database tell about themselves. Parts that the user may not ask for are absent. */
export interface ServerFacts {
  /** The clock of the primary minus that of this process, in milliseconds; as exact as an answer is quick. */
  readonly skew: number;
  /** Absent: a sharded cluster, or the user may not ask. */
  readonly members?: readonly MemberState[];
  /** Whether a majority writes to the journal before it acknowledges. */
  readonly isJournaled?: boolean;
  /** The cache of the storage engine, in bytes. */
  readonly cache?: { readonly size: number; readonly dirty: number };
  /** Of a sharded cluster: the shard keys by collection, such as `{ _id: "hashed" }`. */
  readonly shardKeys?: ReadonlyMap<string, string>;
  /** Names of commands that the user has no right to. */
  readonly refused: readonly string[];
}

/** The server refuses a command that the user has no right to. */
const UNAUTHORIZED = 13;

/**
 * Asks the servers of a database how they are. Reads only.
 *
 * @param url as of `openMongoStore`
 * @throws Error where they cannot be reached, or cannot do what the store needs
 */
export async function examineServers(url: string): Promise<ServerFacts> {
  const { client, db } = await connect(url, toSettings({}));
  const admin = client.db('admin');
  const refused: string[] = [];
  const ask = async (name: string): Promise<Document | undefined> => {
    try {
      return await admin.command({ [name]: 1 });
    } catch (error) {
      if (!(error instanceof MongoServerError)) throw error;
      // A router has no such command.
      if (error.code === UNAUTHORIZED) refused.push(name);
      return undefined;
    }
  };
  try {
    const skew = await skewOf(admin);
    const [status, config, server] = [
      await ask('replSetGetStatus'),
      await ask('replSetGetConfig'),
      await ask('serverStatus'),
    ];
    const shardKeys = await shardKeysOf(db, client.db('config'));
    const cache = (server?.['wiredTiger'] as Document | undefined)?.['cache'] as Document | undefined;
    return {
      skew,
      refused,
      ...(shardKeys !== undefined && { shardKeys }),
      ...(status !== undefined && { members: membersOf(status) }),
      ...(config !== undefined && { isJournaled: config['config']['writeConcernMajorityJournalDefault'] !== false }),
      ...(cache !== undefined && {
        cache: {
          size: Number(cache['maximum bytes configured']),
          dirty: Number(cache['tracked dirty bytes in the cache']),
        },
      }),
    };
  } finally {
    await client.close();
  }
}

/** @returns undefined: no router answers */
async function shardKeysOf(db: Db, config: Db): Promise<ReadonlyMap<string, string> | undefined> {
  if ((await db.command({ hello: 1 }))['msg'] !== 'isdbgrid') return undefined;
  const prefix = `${db.databaseName}.`;
  const found = await config.collection<{ _id: string; key: Document }>('collections').find().toArray();
  const own = found.filter(({ _id }) => _id.startsWith(prefix));
  return new Map(own.map(({ _id, key }) => [_id.slice(prefix.length), textOf(key)]));
}

function textOf(key: Document): string {
  return `{ ${Object.entries(key)
    .map(([field, kind]) => `${field}: ${JSON.stringify(kind)}`)
    .join(', ')} }`;
}

async function skewOf(admin: Db): Promise<number> {
  const sent = Date.now();
  const { localTime } = (await admin.command({ hello: 1 })) as unknown as { localTime: Date };
  return localTime.getTime() - (sent + Date.now()) / 2;
}

function membersOf(status: Document): MemberState[] {
  const members = status['members'] as readonly {
    readonly name: string;
    readonly stateStr: string;
    readonly health: number;
    readonly optimeDate?: Date;
  }[];
  const primary = members.find(({ stateStr }) => stateStr === 'PRIMARY')?.optimeDate;
  return members.map(({ name, stateStr: state, health, optimeDate }) => ({
    ...{ name, state, isUp: health === 1 },
    ...(primary !== undefined && optimeDate !== undefined && { lag: primary.getTime() - optimeDate.getTime() }),
  }));
}
