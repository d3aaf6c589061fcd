import type { ClientSession, Filter } from 'mongodb';

import { VersionConflict, type Change, type StoredVersion } from '../../../store.js';
import type { Raw } from '../../bson/bson.js';
import { keyOf, type PastDocument, type ResourceDocument } from '../../bson/documents.js';
import type { Recent } from '../../read/recent.js';
import { amendmentsOf, readHead, VERSION_ONLY } from '../../bson/stored-version.js';
import { isConnectionLost, isDuplicate, isSelectionFailed, outcomeUnknown } from '../../mongo-errors.js';
import { commandOptions, SLACK } from '../command-options.js';
import type { Copies } from './copies.js';
import { openInsert } from './inserts.js';
import { planWrite, toFound, toStep, type FoundVersion } from '../plan-write.js';
import type { WriterParts } from '../writer-parts.js';

/**
 * Updates or deletes one resource that has and had nothing within it. A transaction takes the server more than twice as long.
 *
 * The version that is to be replaced is copied to `history` first, marked as pending. Then one command replaces exactly the document
 * that was read: it decides. A process that dies between the two leaves a copy of what is still current. Readers skip it, and the next
 * write of the resource, which meets it, replaces it in a transaction. Both commands are confirmed by a majority before the next
 * step, so that after a change of the primary there is no new version without the copy.
 *
 * @returns undefined: nothing was done, and it takes a transaction to decide
 * @throws VersionConflict
 */
export type Update = (
  change: Change,
  deadline: number,
) => Promise<{ readonly versions: StoredVersion[]; readonly begun: number } | undefined>;

/**
 * @param copies is notified of each copy that is pending no more
 * @param recent knows what was read before; however old it is, only the same document is replaced
 */
export function openUpdate(
  {
    collections,
    causal,
    stamps,
    slotOf,
    time,
    fault,
  }: Pick<WriterParts, 'collections' | 'causal' | 'stamps' | 'slotOf' | 'time' | 'fault'>,
  copies: Copies,
  recent: Recent,
): Update {
  const { resource, history } = collections;
  const insert = openInsert(history, causal, time);

  /** Whether it was inserted; if not, another write has left its copy, or is at the same. */
  async function insertCopy(past: PastDocument, size: number, deadline: number): Promise<boolean> {
    try {
      await insert({ document: { ...past, ...copies.mark }, size, deadline });
      return true;
    } catch (error) {
      if (isDuplicate(error)) return false;
      throw error;
    }
  }

  /** Whether it was replaced. The driver retries after a lost connection, and the server recognizes the retry. */
  async function replace(bytes: Raw, { _id, ...replacement }: ResourceDocument, given: Given): Promise<boolean> {
    try {
      const { matchedCount } = await causal.write((session) =>
        resource.replaceOne(sameAs(bytes), replacement, given(session)),
      );
      return matchedCount === 1;
    } catch (error) {
      throw isConnectionLost(error) || isSelectionFailed(error) ? outcomeUnknown() : error;
    }
  }

  /** A write that was faster has put its own copy in the place of this one; or the resource was expunged, and nothing may be left of it. */
  async function removeCopy({ _id, until }: PastDocument, given: Given): Promise<void> {
    await causal.write((session) => history.deleteOne({ _id, until, ...copies.mark }, given(session)));
  }

  /** The current version: as it was read a moment ago, if that is the one that is expected. */
  async function find(key: string, change: Change, given: Given): Promise<Raw | null> {
    const known = recent.take(key);
    if (known !== undefined && isExpected(toFound(known), change)) return known;
    return causal.read((session) =>
      resource.findOne<Raw>({ _id: key }, { ...given(session), raw: true, projection: VERSION_ONLY }),
    );
  }

  return async (change, deadline) => {
    fault('begin');
    const key = keyOf(change);
    const given: Given = (session) => commandOptions(session, deadline - SLACK)();
    const { type, id, expected } = change;
    const bytes = await find(key, change, given);
    if (bytes === null) return undefined;
    const found = toFound(bytes);
    const isLater = found.version > expected || (found.version === expected && found.amended > (change.amended ?? 0));
    if (isLater) throw new VersionConflict(type, id, expected, found.version);
    // After a change of the primary a read may show less of what other processes wrote than is there.
    if (!isExpected(found, change) || found.within.length > 0) return undefined;

    const begun = performance.now();
    const planned = planWrite([change], new Map([[key, found]]), stamps.begin());
    const { past, current, written } = toStep(planned, slotOf);
    const [copy, document] = [past[0]!, current[0]!.document];
    if (!(await insertCopy(copy, bytes.length, deadline))) return undefined;
    fault('history');
    if (!(await replace(bytes, document, given))) {
      await removeCopy(copy, given);
      return undefined;
    }
    fault('committed');
    copies.finish({ _id: copy._id, until: copy.until });
    return { versions: [...written], begun };
  };
}

function isExpected(found: FoundVersion, { expected, amended = 0 }: Change): boolean {
  return found.version === expected && found.amended === amended;
}

type Given = (session: ClientSession) => { readonly session: ClientSession; readonly maxTimeMS: number };

/** Finds the document that was read, unless it was changed in any way but in its own index entries. */
function sameAs(bytes: Raw): Filter<ResourceDocument> {
  const { type, id, version, updated, n, fields } = readHead(bytes);
  const amended = amendmentsOf(bytes, fields);
  return {
    _id: keyOf({ type, id }),
    version,
    updated: new Date(updated),
    n,
    within: { $exists: false },
    amended: amended === 0 ? { $exists: false } : amended,
  };
}
