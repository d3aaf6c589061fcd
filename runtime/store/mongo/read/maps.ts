import { MaxKey, MinKey, type ClientSession } from 'mongodb';

import { readMapPlace, writeMapPlace } from '../../map-place.js';
import type { AtomicMaps, MapEntry, MapStep } from '../../store.js';
import type { Causal } from './causal.js';
import type { Collections, MapDocument } from '../bson/documents.js';
import { isDuplicate } from '../mongo-errors.js';
import type { CommandOptions } from '../write/command-options.js';
import type { Transactions } from '../write/transaction.js';
import { answered } from './answered.js';

/** Entries that have not expired: the server deletes them only some time later. */
function alive(now: number): object {
  return { $or: [{ expires: { $exists: false } }, { expires: { $gt: new Date(now) } }] };
}

/** Takes all steps or none, within a transaction. @returns false: none, because an entry is another than its step expects */
export type SwapAll = (steps: readonly MapStep[], given: CommandOptions) => Promise<boolean>;

/** See `SwapAll`. Another transaction that is faster makes this one begin anew, and then it sees that. */
export function openSwapAll({ map: entries }: Pick<Collections, 'map'>, now: () => number): SwapAll {
  return async (steps, given) => {
    const keyOf = ({ map, key }: MapStep): MapDocument['_id'] => ({ map, key });
    const found = await entries.find({ _id: { $in: steps.map(keyOf) }, ...alive(now()) } as object, given()).toArray();
    const present = new Map(found.map(({ _id, value }) => [JSON.stringify([_id.map, _id.key]), value]));
    const valueOf = ({ map, key }: MapStep): string | undefined => present.get(JSON.stringify([map, key]));
    if (steps.some((step) => valueOf(step) !== step.expected)) return false;
    const added = steps.filter(({ expected, value }) => expected === undefined && value !== undefined);
    const others = steps.filter((step) => !added.includes(step));
    if (others.length > 0) {
      await entries.bulkWrite(
        others.map((step) =>
          step.value === undefined
            ? { deleteOne: { filter: { _id: keyOf(step) } } }
            : { updateOne: { filter: { _id: keyOf(step) }, update: { $set: { value: step.value } } } },
        ),
        given(),
      );
    }
    if (added.length > 0) {
      // One that has expired may be there still.
      await entries.deleteMany({ _id: { $in: added.map(keyOf) } }, given());
      await entries.insertMany(added.map((step) => ({ _id: keyOf(step), value: step.value! })), given()); // prettier-ignore
    }
    return true;
  };
}

/** Small maps, an entry a document. @param time how long each step may take, in milliseconds */
export function openMaps(
  { map: entries }: Pick<Collections, 'map'>,
  causal: Causal,
  transactions: Pick<Transactions, 'run'>,
  now: () => number,
  time: number,
): AtomicMaps {
  const read = <T>(work: (session: ClientSession) => Promise<T>): Promise<T> => answered(time, causal.read(work));
  const write = <T>(work: (session: ClientSession) => Promise<T>): Promise<T> => answered(time, causal.write(work));

  /** Entries that fulfil a filter, by map and key. @param limit 0: all */
  function some(filter: object, limit = 0): Promise<MapDocument[]> {
    const alike = { ...filter, ...alive(now()) } as object;
    return read((session) => entries.find(alike, { session, maxTimeMS: time }).sort({ _id: 1 }).limit(limit).toArray());
  }

  async function swap(
    { map, key, value, expires }: MapEntry,
    expected: string | undefined,
    session: ClientSession,
  ): Promise<boolean> {
    const _id = { map, key };
    const update = {
      $set: { value, ...(expires === undefined ? {} : { expires: new Date(expires) }) },
      ...(expires === undefined ? { $unset: { expires: '' as const } } : {}),
    };
    if (expected !== undefined) {
      const filter = { _id, value: expected, ...alive(now()) };
      return (await entries.updateOne(filter, update, { session })).matchedCount === 1;
    }
    try {
      await entries.updateOne({ _id, expires: { $lte: new Date(now()) } }, update, { session, upsert: true });
      return true;
    } catch (error) {
      // One that has not expired is no match, and there can be no second.
      if (isDuplicate(error)) return false;
      throw error;
    }
  }

  const swapAll = openSwapAll({ map: entries }, now);

  return {
    async swapAll(steps) {
      if (steps.length === 0) return true;
      return transactions.run((_session, given) => swapAll(steps, given), performance.now() + time);
    },
    async range(map, after, limit) {
      return toMap(await some({ _id: { $gt: { map, key: after }, $lte: { map, key: new MaxKey() } } }, limit));
    },
    async get(map, key) {
      const filter = { _id: { map, key }, ...alive(now()) };
      return (await read((session) => entries.findOne(filter, { session, maxTimeMS: time })))?.value;
    },
    async entries(map) {
      return toMap(await some({ _id: { $gte: { map, key: new MinKey() }, $lte: { map, key: new MaxKey() } } }));
    },
    swap: (map, key, expected, value, expires) =>
      write((session) => swap({ map, key, value, ...(expires === undefined ? {} : { expires }) }, expected, session)),
    async delete(map, key) {
      await write((session) => entries.deleteOne({ _id: { map, key } }, { session }));
    },
    async scan(after, limit) {
      const documents = await some(after === undefined ? {} : { _id: { $gt: readMapPlace(after) } }, limit);
      const last = documents.at(-1);
      return { entries: documents.map(toEntry), ...(last !== undefined && { next: writeMapPlace(last._id) }) };
    },
  };
}

function toMap(documents: readonly MapDocument[]): Map<string, string> {
  return new Map(documents.map(({ _id, value }) => [_id.key, value]));
}

/** An entry as the port has it. */
export function toEntry({ _id: { map, key }, value, expires }: MapDocument): MapEntry {
  return { map, key, value, ...(expires === undefined ? {} : { expires: expires.getTime() }) };
}
