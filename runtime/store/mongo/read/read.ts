import type { ClientSession } from 'mongodb';

import type { StoredVersion, ResourceKey } from '../../store.js';
import { idOf, type Raw } from '../bson/bson.js';
import type { Causal } from './causal.js';
import { keyOf, pastKeyOf, type Collections } from '../bson/documents.js';
import { toStoredVersion, VERSION_ONLY } from '../bson/stored-version.js';
import { grouped } from '../grouped.js';
import { answered } from './answered.js';
import type { Recent } from './recent.js';

/** Documents that are read alone: those of more bytes, and how many keys of them are remembered. */
const LARGE = { size: 128 * 1024, keys: 1000 };

/** Reads by key. They are asked of the primary, and what its majority has: so a write that this process answered is seen. */
export interface Reader {
  current(type: string, id: string): Promise<StoredVersion | undefined>;
  many(keys: readonly ResourceKey[]): Promise<(StoredVersion | undefined)[]>;
  version(type: string, id: string, version: number): Promise<StoredVersion | undefined>;
  /** Reads something, whatever it is, within so many milliseconds. */
  look(timeoutMS: number): Promise<void>;
}

/**
 * Reads that ask for bytes, of which the text is made.
 *
 * @param recent is notified of current versions that are read by themselves
 * @param time how long each may take, in milliseconds
 */
export function openReader(
  { resource, history, setting }: Collections,
  causal: Causal,
  recent: Recent,
  time: number,
): Reader {
  const options = { raw: true, maxTimeMS: time } as const;
  const current = { ...options, projection: VERSION_ONLY } as const;
  const toVersion = (bytes: Raw | null): StoredVersion | undefined =>
    bytes === null ? undefined : toStoredVersion(bytes);

  async function readMany(
    keys: readonly ResourceKey[],
    session: ClientSession,
  ): Promise<(StoredVersion | undefined)[]> {
    const found = new Map<string, StoredVersion>();
    const filter = { _id: { $in: [...new Set(keys.map(keyOf))] } };
    const ofOneMoment = { ...current, session, readConcern: { level: 'snapshot' } } as const;
    for await (const bytes of resource.find<Raw>(filter, ofOneMoment)) {
      const stored = toStoredVersion(bytes);
      found.set(keyOf(stored), stored);
    }
    return keys.map((key) => found.get(keyOf(key)));
  }

  async function readVersion(key: string, version: number, session: ClientSession): Promise<Raw | null> {
    // In this order: a version that is not current any more when it is looked for there is past already.
    const found = await resource.findOne<Raw>({ _id: key, version }, { ...current, session });
    return found ?? history.findOne<Raw>({ _id: pastKeyOf(key, version) }, { ...options, session });
  }

  const read = <T>(work: (session: ClientSession) => Promise<T>): Promise<T> => answered(time, causal.read(work));

  const findOne = (key: string, session: ClientSession): Promise<Raw | null> =>
    resource.findOne<Raw>({ _id: key }, { ...current, session });

  const readTogether = grouped<string, Raw | null>((keys) =>
    read(async (session) => {
      const [first, ...others] = keys;
      if (others.length === 0) return [await findOne(first!, session)];
      const filter = { _id: { $in: [...new Set(keys)] } };
      const all = await resource.find<Raw>(filter, { ...current, session, batchSize: keys.length + 1 }).toArray();
      const found = new Map(all.map((bytes) => [idOf(bytes), bytes]));
      return keys.map((key) => found.get(key) ?? null);
    }),
  );
  const large = new Set<string>();

  /** What was large when it was read last is read alone: nothing small waits for it again. */
  async function readCurrent(key: string): Promise<Raw | null> {
    const bytes = await (large.has(key) ? read((session) => findOne(key, session)) : readTogether(key));
    large.delete(key);
    if (bytes !== null && bytes.length > LARGE.size) large.add(key);
    const [oldest] = large;
    if (large.size > LARGE.keys && oldest !== undefined) large.delete(oldest);
    return bytes;
  }

  return {
    async current(type, id) {
      const key = keyOf({ type, id });
      const bytes = await readCurrent(key);
      if (bytes !== null) recent.note(key, bytes);
      return toVersion(bytes);
    },
    many: (keys) => read((session) => readMany(keys, session)),
    version: async (type, id, version) =>
      toVersion(await read((session) => readVersion(keyOf({ type, id }), version, session))),
    async look(budget) {
      await answered(budget, setting.findOne({}, { maxTimeMS: budget }));
    },
  };
}
