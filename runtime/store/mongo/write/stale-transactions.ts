import type { Binary, Db, MongoClient } from 'mongodb';

/** How this program is called among the clients of a server. */
export const APP_NAME = 'kiln';

/** A transaction that did nothing for so long belongs to a process that died or hangs. In milliseconds. */
const IDLE = 3500;

/** The server adds up all pauses of a transaction; so it has to be seen, too, that nothing goes on for this long. */
const UNCHANGED = 2500;

/** Work that takes as long as this may be waiting for such a transaction. In milliseconds. */
const SUSPICIOUS = 1500;

interface IdleSession {
  readonly lsid?: { readonly id: Binary };
  readonly transaction?: {
    readonly parameters?: { readonly txnNumber?: unknown };
    readonly timeActiveMicros?: unknown;
  };
}

/**
 * A process that dies in a transaction leaves it open, and the server keeps what it locked for a minute. A transaction of ours
 * is never idle for seconds, so such ones are ended; a process that only hung notices at its commit, and tries again.
 */
export interface StaleTransactions {
  /** Awaits the work; if it takes suspiciously long, ends transactions that their process has abandoned. */
  watch<T>(work: Promise<T>): Promise<T>;
}

/** Looks at the transactions on this database. */
export function openStaleTransactions(client: MongoClient, db: Db): StaleTransactions {
  let looking: Promise<void> | undefined;
  /** Since when which transactions are as they are, in the time of `performance.now()`. */
  let seen = new Map<string, number>();

  async function end(): Promise<void> {
    const pipeline = [
      { $currentOp: { idleSessions: true, allUsers: false } },
      {
        $match: {
          active: false,
          appName: APP_NAME,
          'transaction.timeInactiveMicros': { $gt: IDLE * 1000 },
        },
      },
    ];
    // What goes on now has no majority.
    const options = { readConcern: { level: 'local' } } as const;
    const sessions = await client.db('admin').aggregate<IdleSession>(pipeline, options).toArray();
    const now = performance.now();
    const before = seen;
    seen = new Map(sessions.map((session) => [stateOf(session), before.get(stateOf(session)) ?? now]));
    const stale = sessions.filter((session) => now - (seen.get(stateOf(session)) ?? now) >= UNCHANGED);
    const ids = stale.flatMap(({ lsid }) => (lsid === undefined ? [] : [{ id: lsid.id }]));
    if (ids.length > 0) await db.command({ killSessions: ids });
  }

  function look(): void {
    // A user who may not ask has to wait the minute.
    looking ??= end()
      .catch(() => {})
      .finally(() => (looking = undefined));
  }

  return {
    async watch(work) {
      const timer = setInterval(look, SUSPICIOUS);
      try {
        return await work;
      } finally {
        clearInterval(timer);
      }
    },
  };
}

/** Is another one as soon as anything was done in the transaction. */
function stateOf({ lsid, transaction }: IdleSession): string {
  return [lsid?.id.toString('hex'), transaction?.parameters?.txnNumber, transaction?.timeActiveMicros].join(' ');
}
