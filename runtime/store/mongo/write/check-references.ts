import type { Document, Filter } from 'mongodb';

import { findDangling, openExceptions, type BrokenReferences, type ReferringChange } from '../../references.js';
import type { RequiredTarget, ResourceKey, Unreferred } from '../../store.js';
import { keyOf, pastKeyOf, type Collections, type ResourceDocument } from '../bson/documents.js';
import { placeOf } from '../bson/index-rows.js';
import type { CommandOptions } from './command-options.js';

/** Finds what of the references of a write is broken, as a session sees it; undefined: nothing. */
export type ReferenceCheck = (
  changes: readonly ReferringChange[],
  given: CommandOptions,
) => Promise<BrokenReferences | undefined>;

/** Keys that one command asks for: its size is bounded. */
const AT_ONCE = 10_000;

/** Does something with keys, each once, as many at a time as one command takes. */
async function inPieces(keys: readonly string[], work: (some: string[]) => Promise<void>): Promise<void> {
  const all = [...new Set(keys)];
  for (let from = 0; from < all.length; from += AT_ONCE) await work(all.slice(from, from + AT_ONCE));
}

/** Looks for the targets of a write with one command, and for past versions of them with another where any is named. */
export function openReferenceCheck({ resource, history }: Pick<Collections, 'resource' | 'history'>): ReferenceCheck {
  async function findTargets(targets: readonly RequiredTarget[], given: CommandOptions): Promise<ReadonlySet<string>> {
    const there = new Set<string>();
    await inPieces(targets.map(keyOf), async (keys) => {
      const projection = { version: 1, deleted: 1 } as const;
      const found = await resource.find({ _id: { $in: keys } }, { ...given(), projection }).toArray();
      for (const { _id, version, deleted } of found) {
        if (deleted === true) continue;
        there.add(_id);
        there.add(pastKeyOf(_id, version));
      }
    });
    const past = targets.flatMap((target) => pastKeys(target).filter((key) => !there.has(key)));
    await inPieces(past, async (keys) => {
      const filter = { _id: { $in: keys }, deleted: { $exists: false } } as const;
      const versions = await history.find(filter, { ...given(), projection: { _id: 1 } }).toArray();
      for (const { _id } of versions) there.add(_id);
    });
    return there;
  }

  async function isReferred(to: ResourceKey, unreferred: Unreferred, given: CommandOptions): Promise<boolean> {
    const row = { p: { $in: [...unreferred.params] }, to: placeOf(to.type, to.id, undefined), version: null };
    const filter = { type: { $in: [...unreferred.types] }, reference: { $elemMatch: row } } as Filter<ResourceDocument>;
    const isException = openExceptions(unreferred);
    const projection = { type: 1, id: 1, version: 1 } as const;
    const cursor = resource.find<Document>(filter, { ...given(), projection, hint: 'reference' });
    try {
      for await (const { type, id, version } of cursor) {
        if (!isException({ type, id, version } as ResourceKey & { version: number })) return true;
      }
      return false;
    } finally {
      await cursor.close();
    }
  }

  return async (changes, given) => {
    const targets = changes.flatMap(({ targets: own = [] }) => own);
    const there = targets.length === 0 ? undefined : await findTargets(targets, given);
    const dangling = findDangling(changes, (target) => {
      const [key = keyOf(target)] = pastKeys(target);
      return there?.has(key) === true;
    });
    if (dangling.length > 0) return { dangling };
    for (const [referred, change] of changes.entries()) {
      if (change.unreferred === undefined) continue;
      if (await isReferred(change, change.unreferred, given)) return { dangling, referred };
    }
    return undefined;
  };
}

/** The key of the version that a target names, if it names one. */
function pastKeys(target: RequiredTarget): readonly string[] {
  return target.version === undefined ? [] : [pastKeyOf(keyOf(target), target.version)];
}
