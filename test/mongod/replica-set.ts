import { MongoClient } from 'mongodb';
import { mkdtempSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';

import { freePort } from './free-port.js';
import { createMember, type Member } from './member.js';
import { hireUndertaker } from './undertaker.js';

const READY_MS = 30_000;
/** A rollback takes a second or two as a rule, and now and then twenty. */
const ROLLED_BACK_MS = 45_000;
const LOOK_MS = 50;

/** A replica set on loopback, on temporary data. */
export interface ReplicaSet {
  /** Connection string without a database, all members named. */
  readonly url: string;
  readonly members: readonly Member[];
  /** The member that takes writes now; waits until there is one. */
  primary(): Promise<Member>;
  /**
   * Waits until all members are up, one the primary, the others following it. Before that one more failure leaves no majority:
   * what was killed and started again calls itself a secondary at once, and then rolls back what only it had. While it does
   * so it cannot vote.
   */
  ready(): Promise<void>;
  /** Kills all members and removes their data. */
  stop(): Promise<void>;
}

/**
 * Starts a replica set; its primary takes writes, and the others follow it, when it resolves. Whatever is left of it goes when
 * this process ends, in whatever way that happens.
 *
 * @param mongod path of the binary
 * @param size number of members
 * @param place folder in which their data are, in one of their own
 * @param cache size of each cache, in GB. A busy machine empties the least that there can be (0.25) too slowly for large transactions
 */
export async function startReplicaSet(
  mongod: string,
  size = 1,
  { place = tmpdir(), cache = 1 }: { readonly place?: string | undefined; readonly cache?: number } = {},
): Promise<ReplicaSet> {
  const folder = mkdtempSync(join(place, 'kiln-mongod-'));
  const undertaker = hireUndertaker(folder);
  const members: Member[] = [];
  const changed = (): void => undertaker.watch(members.flatMap(({ pid }) => pid ?? []));
  try {
    for (let n = 0; n < size; n++) members.push(createMember(mongod, folder, await freePort(), cache, changed));
    await Promise.all(members.map((member) => member.start()));
    await initiate(members);
    await untilReady(members, READY_MS);
  } catch (error) {
    await undertaker.bury();
    throw error;
  }
  return {
    url: `mongodb://${members.map(({ host }) => host).join(',')}/?replicaSet=kiln`,
    members,
    primary: () => findPrimary(members),
    ready: () => untilReady(members, ROLLED_BACK_MS),
    stop: () => undertaker.bury(),
  };
}

async function initiate(members: readonly Member[]): Promise<void> {
  const config = {
    _id: 'kiln',
    members: members.map(({ host }, _id) => ({ _id, host })),
    // Seconds go by less in a test. The defaults are 10 s and 2 s.
    settings: { electionTimeoutMillis: 2000, heartbeatIntervalMillis: 500 },
  };
  await onMember(members[0]!, (client) => client.db('admin').command({ replSetInitiate: config }));
}

/** What a member knows of another. */
interface MemberStatus {
  readonly stateStr: string;
  /** Its last operation; of the term in which that was written. Absent: nobody has heard of it yet. */
  readonly optime?: { readonly t: unknown };
}

/** @param patience milliseconds after which it is given up */
async function untilReady(members: readonly Member[], patience: number): Promise<void> {
  const wanted = members.map((_, n) => (n === 0 ? 'PRIMARY' : 'SECONDARY')).join();
  let seen = '';
  for (const end = Date.now() + patience; seen !== wanted; await sleep(LOOK_MS)) {
    if (Date.now() > end) throw new Error(`the replica set is ${seen} after ${patience} ms, not ${wanted}`);
    // The primary knows; one that begins to roll back closes its connections, and may say nothing for long.
    seen = await findPrimary(members)
      .then((primary) => onMember(primary, statesOf))
      .catch(String);
  }
}

/** What a member thinks of all of them, sorted. */
async function statesOf(client: MongoClient): Promise<string> {
  const { members, term } = await client.db('admin').command({ replSetGetStatus: 1 });
  const states = (members as MemberStatus[]).map(({ stateStr, optime }) =>
    // What it has from this primary it got after whatever it had to roll back.
    Number(optime?.t) === Number(term) ? stateStr : `${stateStr} behind`,
  );
  return states.sort().join();
}

async function findPrimary(members: readonly Member[]): Promise<Member> {
  for (const end = Date.now() + READY_MS; Date.now() < end; await sleep(LOOK_MS)) {
    for (const member of members) {
      if (member.pid === undefined) continue;
      const isPrimary = onMember(member, async (client) => {
        const hello = await client.db('admin').command({ hello: 1 });
        return hello['isWritablePrimary'] === true;
      });
      if (await isPrimary.catch(() => false)) return member;
    }
  }
  throw new Error(`no primary for ${READY_MS} ms`);
}

/** Talks to one member, whatever its part in the replica set. */
async function onMember<T>({ host }: Member, work: (client: MongoClient) => Promise<T>): Promise<T> {
  const client = new MongoClient(`mongodb://${host}/?directConnection=true`, {
    serverSelectionTimeoutMS: 2000,
    socketTimeoutMS: 5000,
  });
  try {
    return await work(client);
  } finally {
    await client.close();
  }
}
