import { MongoError, type ClientSession } from 'mongodb';
import { setTimeout as sleep } from 'node:timers/promises';

import type { Causal } from '../read/causal.js';
import type { Fault } from '../fault.js';
import type { StaleTransactions } from './stale-transactions.js';
import { commandOptions, SLACK, type CommandOptions } from './command-options.js';
import {
  isConnectionLost,
  isDuplicate,
  isSelectionFailed,
  isTimeUp,
  isTransient,
  outcomeUnknown,
  storeBusy,
  translateMongoError,
  writeNotDone,
} from '../mongo-errors.js';

/** How many times a transaction is tried. Each failed attempt means that a concurrent transaction was committed or is in progress. */
const MAX_ATTEMPTS = 100;

/** First and greatest pause before the next try, in milliseconds; the real one is random below. */
const FIRST_PAUSE = 4;
const GREATEST_PAUSE = 400;

/** A transaction took so long that its stamps are too old to be committed. */
export class TooLate extends Error {}

/** Work that is done in a transaction. */
export type Work<T> = (session: ClientSession, given: CommandOptions) => Promise<T>;

/** Runs work in transactions. */
export interface Transactions {
  /**
   * Does `work` in one transaction, again from the beginning as long as others are in the way. What it throws for other
   * reasons undoes it, and passes.
   *
   * @param work hands to each of its commands what the second argument gives, so that the server ends it in time
   * @param deadline when it is given up, in the time of `performance.now()`
   * @param look is called before each further try, and throws where that would be in vain
   * @throws FhirError `store-busy` where others stay in the way, `store-unavailable`
   */
  run<T>(work: Work<T>, deadline: number, look?: () => Promise<void>): Promise<T>;
}

/** How long after the deadline it is tried to learn what became of a commit, in milliseconds. */
const AFTERMATH = 30_000;

/** Opens no connection. */
export function openTransactions(causal: Causal, fault: Fault, stale: StaleTransactions): Transactions {
  async function attempt<T>(session: ClientSession, work: Work<T>, deadline: number) {
    session.startTransaction({ readConcern: { level: 'snapshot' }, writeConcern: { w: 'majority', journal: true } });
    try {
      const result = await work(session, commandOptions(session, deadline - SLACK));
      fault('commit');
      await commit(session, deadline + AFTERMATH);
      fault('committed');
      return result;
    } catch (error) {
      // Where this fails too, the server ends the transaction by itself.
      if (session.inTransaction()) await session.abortTransaction().catch(() => {});
      throw error;
    }
  }

  async function attempts<T>(work: Work<T>, deadline: number, look?: () => Promise<void>): Promise<T> {
    for (let tries = 1; ; tries++) {
      const begun = performance.now();
      try {
        // A session of its own: what a failed try saw last may be rolled back, and need not be waited for.
        return await causal.transact((session) => attempt(session, work, deadline));
      } catch (error) {
        if (!isWorthAnother(error)) throw isTimeUp(error) ? writeNotDone() : translateMongoError(error);
        // The other one is about as far as this one was.
        const greatest = Math.min(GREATEST_PAUSE, (FIRST_PAUSE + performance.now() - begun) * 2 ** (tries - 1));
        const pause = (0.5 + Math.random() / 2) * greatest;
        if (tries >= MAX_ATTEMPTS || performance.now() + pause > deadline) throw storeBusy();
        await sleep(pause);
        await look?.();
      }
    }
  }

  return { run: (work, deadline, look) => stale.watch(attempts(work, deadline, look)) };
}

/** A document that another made in the same moment is seen by the next try. */
function isWorthAnother(error: unknown): boolean {
  // A lost connection too: at the commit it is not passed on.
  return isTransient(error) || isConnectionLost(error) || isDuplicate(error) || error instanceof TooLate;
}

/**
 * Commits; where the answer was lost, asks again, which the server answers without doing it twice. The client may already
 * have received an unknown outcome, but a late commit still has to be stamped again.
 *
 * @throws FhirError `store-unavailable` where it stays unknown
 */
async function commit(session: ClientSession, deadline: number): Promise<void> {
  for (;;) {
    try {
      return await session.commitTransaction();
    } catch (error) {
      // A label of both kinds says that it was certainly not done.
      if (isTransient(error) || !isUnknown(error)) throw error;
      if (performance.now() > deadline) throw outcomeUnknown();
      await sleep(Math.random() * GREATEST_PAUSE);
    }
  }
}

function isUnknown(error: unknown): boolean {
  if (isConnectionLost(error) || isSelectionFailed(error)) return true;
  return error instanceof MongoError && (error.hasErrorLabel('UnknownTransactionCommitResult') || isTimeUp(error));
}
