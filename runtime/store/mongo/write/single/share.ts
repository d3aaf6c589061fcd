import { MongoBulkWriteError, MongoError, MongoServerError } from 'mongodb';

import { grouped } from '../../grouped.js';
import { isConnectionLost, outcomeUnknown } from '../../mongo-errors.js';

/** Larger documents, in bytes or characters, are sent by themselves: nothing small waits for them. */
const SMALL = 32 * 1024;

/** A write that may share its command with others. */
export interface Single {
  /** Of its document, in bytes or characters. */
  readonly size: number;
  /** In the time of `performance.now()`. */
  readonly deadline: number;
}

/** How writes are done. */
interface Ways<T, R> {
  readonly alone: (item: T) => Promise<R>;
  /** As one unordered bulk write, until the first deadline. Gives an Error for what was not done; throws where nothing was sent. */
  readonly together: (items: readonly T[], deadline: number) => Promise<readonly (R | Error)[]>;
}

/**
 * Writes that have little time left, or are large, are done alone, others together with those of the same turn of the event loop.
 *
 * @param time how long a write may take, in milliseconds
 */
export function share<T extends Single, R>(time: number, { alone, together }: Ways<T, R>): (item: T) => Promise<R> {
  const shared = grouped<T, R>(async (items) => {
    const [first, ...others] = items;
    if (others.length === 0) return [await alone(first!)];
    try {
      return await together(items, Math.min(...items.map(({ deadline }) => deadline)));
    } catch (error) {
      if (!isUnsent(error)) throw error;
      return Promise.all(items.map((item) => alone(item).catch(toError)));
    }
  });
  return (item) => {
    const isHurried = item.deadline - performance.now() < time / 2;
    return isHurried || item.size > SMALL ? alone(item) : shared(item);
  };
}

function toError(error: unknown): Error {
  return error instanceof Error ? error : new Error('a write failed', { cause: error });
}

/** Whether a command was not sent: one of its documents cannot be written as BSON. */
function isUnsent(error: unknown): boolean {
  return !(error instanceof MongoError) && !isConnectionLost(error);
}

/**
 * What became of the statements of an unordered bulk write that failed: the error of each, undefined where it was done. If there is no
 * answer for each of them, what became of any is unknown.
 *
 * @throws the error where nothing was sent
 */
export function errorsOf(error: unknown, count: number): readonly (Error | undefined)[] {
  if (isUnsent(error)) throw error;
  if (!(error instanceof MongoBulkWriteError) || isConnectionLost(error))
    return Array.from({ length: count }, outcomeUnknown);
  const failed = [error.writeErrors].flat();
  // Written, but not confirmed by a majority; or there is no word of any statement.
  const isUnknown = failed.length === 0 || error.result.getWriteConcernError() !== undefined;
  const errors = Array.from({ length: count }, () => (isUnknown ? outcomeUnknown() : undefined) as Error | undefined);
  for (const { index, code, errmsg } of failed) {
    errors[index] = new MongoServerError({ message: errmsg ?? 'a write failed', code });
  }
  return errors;
}
