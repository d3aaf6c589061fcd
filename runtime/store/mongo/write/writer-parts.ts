import type { Causal } from '../read/causal.js';
import type { PreconditionCheck } from './check-preconditions.js';
import type { Collections } from '../bson/documents.js';
import type { Fault } from '../fault.js';
import type { SwapAll } from '../read/maps.js';
import type { SlotOf } from '../bson/sort-slots.js';
import type { Stamps } from './stamps.js';
import type { Transactions } from './transaction.js';

/** Parts of the store that a writer works with. */
export interface WriterParts {
  readonly collections: Collections;
  readonly causal: Causal;
  readonly transactions: Transactions;
  readonly stamps: Stamps;
  readonly slotOf: SlotOf;
  readonly findBroken: PreconditionCheck;
  readonly swapAll: SwapAll;
  /** Before a time is taken. */
  readonly settle: () => Promise<void>;
  /** How long a write may take, waiting included, in milliseconds. */
  readonly time: number;
  readonly fault: Fault;
}
