import { BSON, type Collection, type Filter, type OptionalUnlessRequiredId } from 'mongodb';

import { idOf, type Raw } from '../../bson/bson.js';
import { commandOptions, SLACK } from '../command-options.js';
import type { Causal } from '../../read/causal.js';
import { readHead } from '../../bson/stored-version.js';
import { isDuplicate, outcomeUnknown } from '../../mongo-errors.js';
import { errorsOf, share, type Single } from './share.js';

/** A document to be inserted. */
interface Inserted<T> extends Single {
  readonly document: OptionalUnlessRequiredId<T>;
}

/**
 * Inserts documents that have nothing to do with each other, those of one moment by one command. It rejects with the error of the driver,
 * whatever becomes of others; with `outcomeUnknown` if there is no answer for a document that shared a command.
 */
export type Insert<T> = (inserted: Inserted<T>) => Promise<void>;

/** @param time how long a write may take, in milliseconds */
export function openInsert<T extends { readonly _id: string; readonly version: number }>(
  collection: Collection<T>,
  causal: Causal,
  time: number,
): Insert<T> {
  async function alone({ document, deadline }: Inserted<T>): Promise<true> {
    // The driver retries after a lost connection, and the server recognizes the retry. So a duplicate was written by another request.
    await causal.write((session) => collection.insertOne(document, commandOptions(session, deadline - SLACK)()));
    return true;
  }

  /** Those that are there as they were sent; where a later version is, there is no telling. */
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

  async function again(inserted: Inserted<T>): Promise<true> {
    try {
      return await alone(inserted);
    } catch (error) {
      const [was] = isDuplicate(error) ? await look([inserted]) : [];
      if (was === true) return true;
      throw was ?? error;
    }
  }

  async function together(items: readonly Inserted<T>[], deadline: number): Promise<readonly (true | Error)[]> {
    const documents = items.map(({ document }) => document);
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

  const write = share<Inserted<T>, true>(time, { alone, together, look, again });
  return async (inserted) => void (await write(inserted));
}
