import type { Collections } from '../bson/documents.js';
import type { CommandOptions } from './command-options.js';

/** Lock documents of one command. */
const AT_ONCE = 500;

/**
 * Touches the lock documents of preconditions, first of all in a transaction: of two that touch the same one goes on, and the other sees what
 * that one wrote when it is tried again. https://www.mongodb.com/docs/manual/core/transactions-production-consideration/
 *
 * @param keys sorted, so that of those in each other's way one goes on
 */
export async function lockPreconditions(
  { lock }: Pick<Collections, 'lock'>,
  keys: readonly string[],
  given: CommandOptions,
): Promise<void> {
  if (keys.length === 0) return;
  // What changes nothing conflicts with nothing, and times may be alike.
  const update = { $inc: { n: 1 }, $currentDate: { touched: true } } as const;
  for (let from = 0; from < keys.length; from += AT_ONCE) {
    const some = keys.slice(from, from + AT_ONCE);
    await lock.bulkWrite(
      some.map((_id) => ({ updateOne: { filter: { _id }, update, upsert: true } })),
      given(),
    );
  }
}
