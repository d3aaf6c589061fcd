import {
  BSON,
  MongoBulkWriteError,
  MongoError,
  MongoServerError,
  type Collection,
  type Filter,
  type OptionalUnlessRequiredId,
} from 'mongodb';

import { least } from '../../../../fhir/lists.js';
import { idOf, type Raw } from '../../bson/bson.js';
import { readHead } from '../../bson/stored-version.js';
import { grouped, type Result } from '../../grouped.js';
import { isConnectionLost, isDuplicate, isRefusal, isTimeUp, outcomeUnknown } from '../../mongo-errors.js';
import type { Causal } from '../../read/causal.js';
import { commandOptions, SLACK } from '../command-options.js';

/** Larger documents, in bytes or characters, are sent by themselves: nothing small waits for them. */
const SMALL = 32 * 1024;

/**
 * How long a command of several inserts may take, in milliseconds: some ten times as long as most. One of them may wait for the transaction
 * of another process, and the others wait with it.
 */
const LONGEST = 250;

/** How long inserts are done alone after a command took longer, in milliseconds. */
const REST = 1000;

/** A document to be inserted. */
interface Inserted<T> {
  readonly document: OptionalUnlessRequiredId<T>;
  /** Of the document, in bytes or characters. */
  readonly size: number;
  /** In the time of `performance.now()`. */
  readonly deadline: number;
}

/** The server stopped a command at its time limit. Some of its statements may be done. */
export class Stopped extends Error {}

/**
 * Opens inserts of documents that have nothing to do with each other: those of one turn of the event loop share a command, but those that
 * have little time left, or are large. One rejects with the error of the driver, whatever becomes of others; with `outcomeUnknown` if there
 * is no answer for a document that shared a command.
 *
 * @param time how long a write may take, in milliseconds
 */
export function openInsert<T extends { readonly _id: string; readonly version: number }>(
  collection: Pick<Collection<T>, 'insertOne' | 'insertMany' | 'find'>,
  causal: Causal,
  time: number,
): (inserted: Inserted<T>) => Promise<true> {
  let restUntil = 0;

  async function alone({ document, deadline }: Inserted<T>): Promise<true> {
    // The driver retries after a lost connection, and the server recognizes the retry. So a duplicate was written by another request.
    await causal.write((session) => collection.insertOne(document, commandOptions(session, deadline - SLACK)()));
    return true;
  }

  /** @throws Stopped; any error that is none of MongoDB where nothing was sent */
  async function together(items: readonly Inserted<T>[]): Promise<readonly (true | Error)[]> {
    const documents = items.map(({ document }) => document);
    const longest = performance.now() + LONGEST + SLACK;
    const deadline = least(items.map((item) => item.deadline), longest); // prettier-ignore
    // Whatever comes of it, reads wait for it.
    const failure = await causal.write(async (session) => {
      const given = commandOptions(session, deadline - SLACK)();
      return collection.insertMany(documents, { ...given, ordered: false }).then(
        () => undefined,
        (error: unknown) => ({ error }),
      );
    });
    const errors = failure === undefined ? [] : errorsOf(failure.error, items.length);
    return items.map((_item, i) => errors[i] ?? true);
  }

  /** Looks for documents after the server stopped: whether each is there as it was sent. Where a later version is, there is no telling. */
  async function look(items: readonly Inserted<T>[]): Promise<readonly (true | Error | undefined)[]> {
    const filter = { _id: { $in: items.map(({ document }) => (document as T)._id) } } as Filter<T>;
    const found = await causal.read((session) =>
      collection.find<Raw>(filter, { session, raw: true, maxTimeMS: time }).toArray(),
    );
    const there = new Map(found.map((bytes) => [idOf(bytes), bytes]));
    return items.map(({ document }) => {
      const { _id, version } = document as T;
      const stored = there.get(_id);
      if (stored === undefined) return undefined;
      if (stored.equals(BSON.serialize(document, { ignoreUndefined: true }))) return true;
      return readHead(stored).version > version ? outcomeUnknown() : undefined;
    });
  }

  /** Alone, after the server stopped a command that had it: what is there as it was sent was inserted by that. */
  async function again(inserted: Inserted<T>): Promise<true> {
    try {
      return await alone(inserted);
    } catch (error) {
      const [was] = isDuplicate(error) ? await look([inserted]) : [];
      if (was === true) return true;
      throw was ?? error;
    }
  }

  const shared = grouped<Inserted<T>, true>(async (items): Promise<readonly Result<true>[]> => {
    if (items.length === 1) return items.map(alone);
    try {
      return await together(items);
    } catch (error) {
      if (isUnsent(error)) return items.map(alone);
      if (!(error instanceof Stopped)) throw error;
      restUntil = performance.now() + REST;
      const known = await look(items).catch(() => items.map(outcomeUnknown));
      return items.map((item, i) => known[i] ?? again(item));
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
