import type { Collection, OptionalUnlessRequiredId } from 'mongodb';

import { commandOptions, SLACK } from '../command-options.js';
import type { Causal } from '../../read/causal.js';
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
export function openInsert<T extends { readonly _id: string }>(
  collection: Collection<T>,
  causal: Causal,
  time: number,
): Insert<T> {
  return share(time, {
    async alone({ document, deadline }) {
      // The driver retries after a lost connection, and the server recognizes the retry. So a duplicate was written by another request.
      await causal.write((session) => collection.insertOne(document, commandOptions(session, deadline - SLACK)()));
    },
    together: (items, deadline) =>
      causal.write(async (session) => {
        const documents = items.map(({ document }) => document);
        try {
          const given = commandOptions(session, deadline - SLACK)();
          await collection.insertMany(documents, { ...given, ordered: false });
          return items.map(() => undefined);
        } catch (error) {
          return errorsOf(error, items.length);
        }
      }),
  });
}
