import type { Condition } from '../../../../search/query/query.js';
import { asksForContained, withoutAbsentContained } from '../../../contained-resources.js';
import { BY_TYPE_AND_TIME } from '../../indexes.js';
import { CONTAINED_FIELDS } from '../../write/contained-resources.js';
import type { Snapshot } from '../../read/snapshot.js';

/** Which types of members there are: what a process saw last, which is most likely so again. */
export interface ContainedTypes {
  /**
   * Makes something of a condition without what asks for members that there are none of in a snapshot. What there are is asked for
   * beside the work, which is done again only if it was something else than before, even where it failed.
   */
  settle<T>(snapshot: Snapshot, where: Condition, work: (where: Condition) => Promise<T>): Promise<T>;
}

/** Nothing was seen yet. */
export function openContainedTypes(): ContainedTypes {
  let last: ReadonlySet<string> = new Set();
  return {
    async settle(snapshot, where, work) {
      if (!asksForContained(where)) return work(where);
      const guess = last;
      const of = (types: ReadonlySet<string>): Condition => withoutAbsentContained(where, (type) => types.has(type));
      // The first of a snapshot decides on its moment, which all others wait for: that is the work.
      const [early, types] = await Promise.allSettled([work(of(guess)), memberTypesIn(snapshot, guess)]);
      if (types.status === 'rejected') throw types.reason;
      const there = types.value;
      last = there;
      const isRight = there.size === guess.size && [...there].every((type) => guess.has(type));
      // Where it was not, it may have failed because of that: it was too costly.
      if (!isRight) return work(of(there));
      if (early.status === 'rejected') throw early.reason;
      return early.value;
    },
  };
}

/** By one step of the index for each. Mostly there are none, which a query tells in less time. */
async function memberTypesIn(snapshot: Snapshot, guess: ReadonlySet<string>): Promise<ReadonlySet<string>> {
  if (guess.size === 0) {
    const any = {
      collection: 'resource',
      filter: { type: CONTAINED_FIELDS },
      hint: BY_TYPE_AND_TIME,
      limit: 1,
      projection: { _id: 1 },
    } as const;
    if ((await snapshot.find(any)).documents.length === 0) return guess;
  }
  const pipeline = [{ $match: { type: CONTAINED_FIELDS } }, { $sort: { type: 1 } }, { $group: { _id: '$type' } }];
  const rows = await snapshot.aggregate('resource', pipeline, BY_TYPE_AND_TIME);
  return new Set(rows.map(({ _id }) => String(_id)));
}
