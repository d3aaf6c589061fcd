import type { Collections } from './documents.js';
import type { Fault } from './fault.js';
import type { StaleTransactions } from './stale-transactions.js';
import type { Stamps } from './stamps.js';
import type { Transactions } from './transaction.js';

/** What a writer is made of. */
export interface WriterParts {
  readonly collections: Collections;
  readonly transactions: Transactions;
  readonly stale: StaleTransactions;
  readonly stamps: Stamps;
  /** Before a time is taken. */
  readonly settle: () => Promise<void>;
  /** How long a write may take, waiting included, in milliseconds. */
  readonly time: number;
  readonly fault: Fault;
}
