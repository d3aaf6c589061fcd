import { MongoBulkWriteError, type Filter } from 'mongodb';

import { commandOptions, SLACK } from '../command-options.js';
import type { Causal } from '../../read/causal.js';
import type { Collections, PastDocument, ResourceDocument } from '../../bson/documents.js';
import { isConnectionLost, isSelectionFailed, outcomeUnknown } from '../../mongo-errors.js';
import type { Copies } from './copies.js';
import { errorsOf, share, type Single } from './share.js';

/** A version that takes the place of another, of which a pending copy of this process is in `history`. */
export interface Replacement extends Single {
  /** Finds the version that is to be replaced, and nothing else. */
  readonly filter: Filter<ResourceDocument>;
  readonly document: ResourceDocument;
  readonly copy: Pick<PastDocument, '_id' | 'until'>;
}

/**
 * Replaces versions, each if it is there still; those of one moment by one command.
 *
 * @returns whether it was replaced; rejects with `outcomeUnknown` if there is no answer
 */
export type Replace = (replacement: Replacement) => Promise<boolean>;

/** @param time how long a write may take, in milliseconds */
export function openReplace(
  { resource, history }: Pick<Collections, 'resource' | 'history'>,
  causal: Causal,
  { mark }: Pick<Copies, 'mark'>,
  time: number,
): Replace {
  /**
   * The answer to several says how many were replaced, not which. A version that is not current any more was replaced by this process if
   * its pending copy is in `history`: another process that replaces it puts a copy of its own there, in the same transaction. Undefined: it
   * is current, or has gone.
   */
  async function look(items: readonly Replacement[]): Promise<readonly (boolean | Error | undefined)[]> {
    const keys = items.map(({ document }) => document._id);
    const copies = items.map(({ copy }) => copy._id);
    const [versions, kept] = await causal.read(async (session) => {
      const options = { session, maxTimeMS: time };
      // In this order: a copy that is there when its version is not current any more was not in the way of another.
      const current = await resource.find({ _id: { $in: keys } }, { ...options, projection: { version: 1 } }).toArray();
      const past = await history.find({ _id: { $in: copies } }, { ...options, projection: { by: 1 } }).toArray();
      return [
        new Map(current.map(({ _id, version }) => [_id, version])),
        new Map(past.map(({ _id, by }) => [_id, by])),
      ] as const;
    });
    return items.map(({ document, copy }) => {
      if ((versions.get(document._id) ?? 0) < document.version) return undefined;
      // Expunged since.
      return kept.has(copy._id) ? kept.get(copy._id) === mark.by : outcomeUnknown();
    });
  }

  /** The driver retries after a lost connection, and the server recognizes the retry. */
  async function alone({ filter, document: { _id, ...replacement }, deadline }: Replacement): Promise<boolean> {
    try {
      const { matchedCount } = await causal.write((session) =>
        resource.replaceOne(filter, replacement, commandOptions(session, deadline - SLACK)()),
      );
      return matchedCount === 1;
    } catch (error) {
      throw isConnectionLost(error) || isSelectionFailed(error) ? outcomeUnknown() : error;
    }
  }

  async function again(replacement: Replacement): Promise<boolean> {
    if (await alone(replacement)) return true;
    const [was] = await look([replacement]);
    if (was instanceof Error) throw was;
    return was ?? false;
  }

  async function together(items: readonly Replacement[], deadline: number): Promise<readonly (boolean | Error)[]> {
    const steps = items.map(({ filter, document: { _id, ...replacement } }) => ({
      replaceOne: { filter, replacement },
    }));
    // Whatever comes of it, reads wait for it.
    const { matchedCount, failure } = await causal.write(async (session) => {
      const given = commandOptions(session, deadline - SLACK)();
      return resource.bulkWrite(steps, { ...given, ordered: false }).then(
        (result) => ({ matchedCount: result.matchedCount, failure: undefined }),
        (error: unknown) => ({
          matchedCount: error instanceof MongoBulkWriteError ? error.matchedCount : 0,
          failure: { error },
        }),
      );
    });
    const errors = failure === undefined ? [] : errorsOf(failure.error, items.length);
    const answered = items.filter((_item, i) => errors[i] === undefined);
    if (matchedCount === answered.length) return items.map((_item, i) => errors[i] ?? true);
    const were = await look(answered).catch(() => answered.map(outcomeUnknown));
    const results = new Map(answered.map((item, i) => [item, were[i] ?? false]));
    return items.map((item, i) => errors[i] ?? results.get(item)!);
  }

  return share<Replacement, boolean>(time, { alone, together, look, again });
}
