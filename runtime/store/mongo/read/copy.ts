import type { RestoredVersion, VersionScan } from '../../store.js';
import { placeEntries } from '../../contained-resources.js';
import type { Raw } from '../bson/bson.js';
import {
  keyOf,
  pastKeyOf,
  type Collections,
  type PastDocument,
  type ResourceDocument,
  type VersionFields,
} from '../bson/documents.js';
import { readPlace, writePlace } from './history-cursor.js';
import type { CommandOptions } from '../write/command-options.js';
import { toIndexRows } from '../bson/index-rows.js';
import { replaceContained, toContained, toWithin, withinOf } from '../write/contained-resources.js';
import { translateMongoError, translateWriteError } from '../mongo-errors.js';
import { checkSize, copyVersion, toFields, toPast } from '../write/plan-write.js';
import type { QueryLimits, Snapshots } from './snapshot.js';
import { toSortSlots, type SlotOf } from '../bson/sort-slots.js';
import { toStoredVersion, VERSION_ONLY } from '../bson/stored-version.js';
import { toStorable } from '../bson/to-storable.js';
import { noteRemoval } from '../write/removals.js';
import type { Transactions } from '../write/transaction.js';
import { walk } from './walk.js';

/**
 * Walks through all versions, oldest first. What others write meanwhile may be missed that comes before what was shown: up
 * to the seconds by which `complete` of history lags.
 */
export function openScan(
  snapshots: Snapshots,
): (after: string | undefined, limit: number, limits: QueryLimits) => Promise<VersionScan> {
  return async (after, limit, limits) => {
    const from = after === undefined ? {} : { from: readPlace(after) };
    try {
      const { versions, last } = await snapshots.run(limits, (snapshot) =>
        walk(snapshot, { direction: 'after', current: {}, past: {}, ...from }, limit),
      );
      return last === undefined ? { versions } : { versions, next: writePlace(last) };
    } catch (error) {
      throw translateMongoError(error);
    }
  };
}

/** What a restore has found here, and made of it. */
interface State {
  readonly fields: VersionFields;
  readonly document?: ResourceDocument;
  /** Types of what is within the version that was found. */
  readonly within: readonly string[];
  readonly members?: readonly ResourceDocument[];
}

/** Puts versions of another store in, all or none. @param time how long it may take, in milliseconds */
export function openRestore(
  { resource, history, setting }: Collections,
  transactions: Transactions,
  time: number,
  slotOf: SlotOf,
): (versions: readonly RestoredVersion[]) => Promise<number> {
  async function restore(versions: readonly RestoredVersion[], given: CommandOptions): Promise<number> {
    const states = await readStates(versions, given);
    const present = await readPresent(versions, given);
    const places = await readPlaces(versions, given);
    const past: PastDocument[] = [];
    let count = 0;
    for (const version of versions) {
      const key = keyOf(version);
      const state = states.get(key);
      const found = present.get(pastKeyOf(key, version.version));
      if (found !== undefined) {
        checkSame(version, toStoredVersion(found));
        continue;
      }
      const called = `${version.type}/${version.id}/_history/${version.version}`;
      const last = state?.fields.version ?? 0;
      if (version.version !== last + 1) {
        throw new Error(`${called} does not follow the last version here, which is ${last === 0 ? 'none' : last}`);
      }
      if (state !== undefined) {
        const isMadeHere = state.document !== undefined;
        past.push({ ...toPast(state.fields, version.lastUpdated), ...(isMadeHere && { interim: true }) });
      }
      const n = (places.get(version.lastUpdated) ?? -1) + 1;
      places.set(version.lastUpdated, n);
      const fields = toFields(version, n, version.content && toStorable(version.content, undefined));
      const { contained } = version;
      const entries = placeEntries(version, contained)(version.entries ?? []);
      const rows = { ...toIndexRows(entries), ...toSortSlots(version.type, entries, slotOf), ...toWithin(contained) };
      const document = { _id: key, ...fields, ...rows };
      const members = toContained(fields, contained, slotOf);
      checkSize(document, version.json?.length ?? 0, entries.length);
      states.set(key, { fields, document, members, within: state?.within ?? [] });
      count++;
    }
    const current = [...states.values()].flatMap(({ document }) => document ?? []);
    if (count > 0) await noteRemoval({ setting }, given);
    if (past.length > 0) await history.insertMany(past, given());
    if (current.length > 0) {
      await resource.bulkWrite(
        current.map(({ _id, ...replacement }) => ({ replaceOne: { filter: { _id }, replacement, upsert: true } })),
        given(),
      );
    }
    const changed = [...states].filter(([, { document }]) => document !== undefined);
    const left = changed.flatMap(([key, { within }]) => (within.length === 0 ? [] : [{ key, within }]));
    await replaceContained(resource, left, changed.flatMap(([, { members = [] }]) => members), given); // prettier-ignore
    return count;
  }

  async function readStates(versions: readonly RestoredVersion[], given: CommandOptions): Promise<Map<string, State>> {
    const filter = { _id: { $in: [...new Set(versions.map(keyOf))] } };
    const found = await resource.find<Raw>(filter, { ...given(), raw: true, projection: VERSION_ONLY }).toArray();
    return new Map(
      found.map((bytes) => {
        const fields = copyVersion(bytes);
        return [keyOf(fields), { fields, within: withinOf(bytes) }];
      }),
    );
  }

  /** Those of the versions that are here, by the key of a past version. */
  async function readPresent(versions: readonly RestoredVersion[], given: CommandOptions): Promise<Map<string, Raw>> {
    const keys = versions.map((version) => pastKeyOf(keyOf(version), version.version));
    const wanted = versions.map((version) => ({ _id: keyOf(version), version: version.version }));
    const found = [
      ...(await history.find<Raw>({ _id: { $in: keys } }, { ...given(), raw: true }).toArray()),
      ...(await resource.find<Raw>({ $or: wanted }, { ...given(), raw: true, projection: VERSION_ONLY }).toArray()),
    ];
    return new Map(
      found.map((bytes) => {
        const stored = toStoredVersion(bytes);
        return [pastKeyOf(keyOf(stored), stored.version), bytes];
      }),
    );
  }

  /** The last place that is taken at each of the times. */
  async function readPlaces(versions: readonly RestoredVersion[], given: CommandOptions): Promise<Map<number, number>> {
    const times = [...new Set(versions.map(({ lastUpdated }) => lastUpdated))].map((updated) => new Date(updated));
    const pipeline = [{ $match: { updated: { $in: times } } }, { $group: { _id: '$updated', n: { $max: '$n' } } }];
    const places = new Map<number, number>();
    for (const collection of [resource, history]) {
      const rows = await collection.aggregate<{ _id: Date; n: number }>(pipeline, given()).toArray();
      for (const { _id, n } of rows) places.set(_id.getTime(), Math.max(n, places.get(_id.getTime()) ?? -1));
    }
    return places;
  }

  return async (versions) => {
    if (versions.length === 0) return 0;
    try {
      return await transactions.run((_session, given) => restore(versions, given), performance.now() + time);
    } catch (error) {
      throw translateWriteError(error, versions.length);
    }
  };
}

function checkSame(version: RestoredVersion, here: { readonly lastUpdated: number; readonly json?: string }): void {
  if (here.lastUpdated === version.lastUpdated && here.json === version.json) return;
  const called = `${version.type}/${version.id}/_history/${version.version}`;
  throw new Error(`${called} is here already, with another content or time`);
}
