import type { Binary, Document, Timestamp } from 'mongodb';

/** A transaction that goes over shards. */
export interface RoutedTransaction {
  /** The moment that it reads. */
  readonly time: Timestamp | undefined;
  readonly level: string;
  /** Shards that have a part of it. */
  readonly shards: Set<number>;
}

/** Transactions by session and number. Those that ended stay: a client may ask again what became of a commit. */
export interface RoutedTransactions {
  /** The transaction that a command belongs to; undefined: none. */
  of(command: Document): RoutedTransaction | undefined;
  begin(command: Document, time: Timestamp | undefined): RoutedTransaction;
}

/** Has none yet. */
export function createTransactions(): RoutedTransactions {
  const open = new Map<string, RoutedTransaction>();
  return {
    of: (command) => open.get(keyOf(command)),
    begin(command, time) {
      const { level = 'snapshot' } = (command['readConcern'] ?? {}) as { level?: string };
      const begun = { time, level, shards: new Set<number>() };
      open.set(keyOf(command), begun);
      return begun;
    },
  };
}

function keyOf({ lsid, txnNumber }: Document): string {
  const { id } = lsid as { id: Binary };
  return `${Buffer.from(id.buffer).toString('hex')} ${String(txnNumber)}`;
}

/** Whether a command is a statement of a transaction, or ends one. */
export function isInTransaction({ autocommit }: Document): boolean {
  return autocommit === false;
}

/** A statement as it goes to a shard: the first of a transaction there begins it. */
export function statementFor(transaction: RoutedTransaction, shard: number, command: Document): Document {
  const { startTransaction: _start, readConcern: _concern, ...statement } = command;
  if (transaction.shards.has(shard)) return statement;
  transaction.shards.add(shard);
  const { level, time } = transaction;
  const moment = level === 'snapshot' && time !== undefined ? { atClusterTime: time } : {};
  return { ...statement, startTransaction: true, readConcern: { level, ...moment } };
}
