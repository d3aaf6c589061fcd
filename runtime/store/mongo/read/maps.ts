import { MaxKey, MinKey, type ClientSession } from 'mongodb';

import { FhirError } from '../../../fhir/errors.js';
import type { AtomicMaps, MapEntry } from '../../store.js';
import type { Causal } from './causal.js';
import type { Collections, MapDocument } from '../bson/documents.js';
import { isDuplicate } from '../mongo-errors.js';
import { answered } from './answered.js';

/** Entries that have not expired: the server deletes them only some time later. */
function alive(now: number): object {
  return { $or: [{ expires: { $exists: false } }, { expires: { $gt: new Date(now) } }] };
}

/** Small maps, an entry a document. @param time how long each step may take, in milliseconds */
export function openMaps({ map: entries }: Collections, causal: Causal, now: () => number, time: number): AtomicMaps {
  const read = <T>(work: (session: ClientSession) => Promise<T>): Promise<T> => answered(time, causal.read(work));
  const write = <T>(work: (session: ClientSession) => Promise<T>): Promise<T> => answered(time, causal.write(work));

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

  return {
    async get(map, key) {
      const filter = { _id: { map, key }, ...alive(now()) };
      return (await read((session) => entries.findOne(filter, { session, maxTimeMS: time })))?.value;
    },
    async entries(map) {
      const _id = { $gte: { map, key: new MinKey() }, $lte: { map, key: new MaxKey() } } as object;
      const found = await read((session) =>
        entries
          .find({ _id, ...alive(now()) } as object, { session, maxTimeMS: time })
          .sort({ _id: 1 })
          .toArray(),
      );
      return new Map(found.map((entry) => [entry._id.key, entry.value]));
    },
    swap: (map, key, expected, value, expires) =>
      write((session) => swap({ map, key, value, ...(expires === undefined ? {} : { expires }) }, expected, session)),
    async delete(map, key) {
      await write((session) => entries.deleteOne({ _id: { map, key } }, { session }));
    },
    async scan(after, limit) {
      const beyond = after === undefined ? {} : { _id: { $gt: readPlace(after) } };
      const documents = await read((session) =>
        entries
          .find({ ...beyond, ...alive(now()) } as object, { session, maxTimeMS: time })
          .sort({ _id: 1 })
          .limit(limit)
          .toArray(),
      );
      const last = documents.at(-1);
      return {
        entries: documents.map(toEntry),
        ...(last === undefined ? {} : { next: JSON.stringify([last._id.map, last._id.key]) }),
      };
    },
  };
}

function toEntry({ _id: { map, key }, value, expires }: MapDocument): MapEntry {
  return { map, key, value, ...(expires === undefined ? {} : { expires: expires.getTime() }) };
}

function readPlace(text: string): MapDocument['_id'] {
  try {
    const [map, key] = JSON.parse(text) as unknown[];
    if (typeof map === 'string' && typeof key === 'string') return { map, key };
  } catch {
    // The error is thrown below.
  }
  throw new FhirError('parameter-invalid', 'This is no place in the maps');
}
