import type { ClientSession, ClusterTime, MongoClient, Timestamp } from 'mongodb';

import type { StaleTransactions } from '../write/stale-transactions.js';

/**
 * Sessions in which this process reads its own acknowledged writes. A new primary serves reads a moment before it knows that a
 * majority has what the one before acknowledged; with the time of the last such write they wait for it, as long as `maxTimeMS`
 * lets them. A majority has that write, so that no rollback takes the time away again.
 */
export interface Causal {
  /** Reads: `work` hands the session to each of its commands. */
  read<T>(work: (session: ClientSession) => Promise<T>): Promise<T>;
  /** Writes outside of transactions, with a majority: what reads see that begin afterwards. `work` as above. */
  write<T>(work: (session: ClientSession) => Promise<T>): Promise<T>;
  /** The same as a transaction of its own, which `work` commits before it resolves. It sees what reads see. */
  transact<T>(work: (session: ClientSession) => Promise<T>): Promise<T>;
}

/** One write, by the clock of the cluster. */
interface Acknowledged {
  readonly operationTime: Timestamp;
  /** Sent to a member of the replica set to advance its cluster time. */
  readonly clusterTime: ClusterTime;
}

/** Nothing was written yet. */
export function openCausal(client: MongoClient, stale: StaleTransactions): Causal {
  let last: Acknowledged | undefined;

  function note({ operationTime, clusterTime }: ClientSession): void {
    if (operationTime === undefined || clusterTime === undefined) return;
    // Answers come in any order.
    if (last?.operationTime.greaterThanOrEqual(operationTime) === true) return;
    last = { operationTime, clusterTime };
  }

  function begin(): ClientSession {
    const session = client.startSession({ causalConsistency: true });
    if (last !== undefined) {
      session.advanceOperationTime(last.operationTime);
      session.advanceClusterTime(last.clusterTime);
    }
    return session;
  }

  async function inSession<T>(session: ClientSession, work: (session: ClientSession) => Promise<T>): Promise<T> {
    try {
      return await work(session);
    } finally {
      await session.endSession();
    }
  }

  async function noted<T>(session: ClientSession, work: (session: ClientSession) => Promise<T>): Promise<T> {
    return inSession(session, async () => {
      const result = await work(session);
      note(session);
      return result;
    });
  }

  return {
    read: (work) => inSession(begin(), work),
    // It waits for nothing: a session that is new knows no time, and a write needs none.
    write: (work) => stale.watch(noted(client.startSession({ causalConsistency: true }), work)),
    transact: (work) => noted(begin(), work),
  };
}
