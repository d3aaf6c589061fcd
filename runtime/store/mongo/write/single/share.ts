import { MongoBulkWriteError, MongoError, MongoServerError } from 'mongodb';

import { least } from '../../../../fhir/lists.js';
import { grouped, type Result } from '../../grouped.js';
import { isConnectionLost, isRefusal, isTimeUp, outcomeUnknown } from '../../mongo-errors.js';
import { SLACK } from '../command-options.js';

/** Larger documents, in bytes or characters, are sent by themselves: nothing small waits for them. */
const SMALL = 32 * 1024;

/**
 * How long a command of several writes may take, in milliseconds: some ten times as long as most. One of them may wait for the transaction of
 * another process, and the others wait with it.
 */
const LONGEST = 250;

/** How long writes are done alone after a command took longer, in milliseconds. */
const REST = 1000;

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
  /**
   * As one unordered bulk write. Gives an Error for what was not done.
   *
   * @throws Stopped; any error that is none of MongoDB where nothing was sent
   */
  readonly together: (items: readonly T[], deadline: number) => Promise<readonly (R | Error)[]>;
  /** What became of them where the server stopped; undefined: nothing, as a majority sees it. */
  readonly look: (items: readonly T[]) => Promise<readonly (R | Error | undefined)[]>;
  /** Alone, after the server stopped a command that had it: if it finds that it was done, it was done by that. */
  readonly again: (item: T) => Promise<R>;
}

/** The server stopped a command at its time limit. Some of its statements may be done. */
export class Stopped extends Error {}

/**
 * Writes that have little time left, or are large, are done alone, others together with those of the same turn of the event loop.
 *
 * @param time how long a write may take, in milliseconds
 */
export function share<T extends Single, R>(
  time: number,
  { alone, together, look, again }: Ways<T, R>,
): (item: T) => Promise<R> {
  let restUntil = 0;

  async function settle(items: readonly T[]): Promise<readonly Result<R>[]> {
    const known = await look(items).catch(() => items.map(outcomeUnknown));
    return items.map((item, i) => known[i] ?? again(item));
  }

  const shared = grouped<T, R>(async (items) => {
    const [first, ...others] = items;
    if (others.length === 0) return [await alone(first!)];
    const longest = performance.now() + LONGEST + SLACK;
    try {
      return await together(
        items,
        least(
          items.map(({ deadline }) => deadline),
          longest,
        ),
      );
    } catch (error) {
      if (isUnsent(error)) return items.map(alone);
      if (!(error instanceof Stopped)) throw error;
      restUntil = performance.now() + REST;
      return settle(items);
    }
  });
  return (item) => {
    const now = performance.now();
    const isAlone = item.size > SMALL || item.deadline - now < time / 2 || now < restUntil;
    return isAlone ? alone(item) : shared(item);
  };
}

/** Whether a command was not sent: one of its documents cannot be written as BSON. */
function isUnsent(error: unknown): boolean {
  return !(error instanceof MongoError) && !(error instanceof Stopped) && !isConnectionLost(error);
}

/**
 * Returns the error of each statement of an unordered bulk write that failed, undefined where the statement was done.
 * If the answer does not cover all statements, the outcome of each is unknown.
 *
 * @throws Stopped; the error where nothing was sent
 */
export function errorsOf(error: unknown, count: number): readonly (Error | undefined)[] {
  if (isUnsent(error)) throw error;
  const unknown = (): Error[] => Array.from({ length: count }, outcomeUnknown);
  if (!(error instanceof MongoBulkWriteError) || isConnectionLost(error)) return unknown();
  const failed = [error.writeErrors].flat();
  // Also where it was done, but a majority did not confirm it in time.
  if (failed.length === 0 && isTimeUp(error)) throw new Stopped();
  if (failed.length === 0 || error.result.getWriteConcernError() !== undefined) return unknown();
  const errors: (Error | undefined)[] = Array.from({ length: count }, () => undefined);
  for (const { index, code, errmsg } of failed) {
    // A router gives the error of a shard to all statements, those that were done too.
    errors[index] = isRefusal(code) ? new MongoServerError({ message: errmsg ?? '', code }) : outcomeUnknown();
  }
  return errors;
}
