import { MongoNetworkTimeoutError, MongoServerError, type Db, type IndexDescription } from 'mongodb';

import { collectionsOf, type Collections } from '../bson/documents.js';
import { INDEXES } from '../indexes.js';

/**
 * The layout that this program knows, and the only one so far that it opens. One more for each that older programs would spoil, and for each
 * step by which older databases are migrated.
 */
export const SCHEMA_VERSION = 6;

const SCHEMA = 'schema';

/** Databases that the server keeps for itself. */
const RESERVED: ReadonlySet<string> = new Set(['admin', 'config', 'local']);

/** What no majority has confirmed counts too. */
const LOCAL = { readConcern: { level: 'local' } } as const;

/**
 * Makes an empty database one of ours, and sees that one of ours has its indexes, however long that takes. Several processes may do
 * so at once.
 *
 * @param existing refuses an empty one
 * @throws Error where it is newer, too old, or belongs to another program
 */
export async function prepare(db: Db, existing: boolean): Promise<Collections> {
  if (RESERVED.has(db.databaseName)) {
    throw new Error(`the database "${db.databaseName}" is MongoDB's own; name another in the URL`);
  }
  const collections = collectionsOf(db);
  const found = await schemaVersion(collections);
  if (found === undefined) {
    if (existing) throw new Error(`the database "${db.databaseName}" holds no data of Kiln`);
    await refuseForeign(db, collections);
  }
  const version = found ?? (await claim(collections));
  if (version < SCHEMA_VERSION) {
    throw new Error(
      `the database "${db.databaseName}" was written by a Kiln before 0.1.0 (its schema is version ${version}, this one begins with ${SCHEMA_VERSION}); ` +
        'start the last one before 0.1.0 on it once, which migrates it',
    );
  }
  if (version > SCHEMA_VERSION) {
    throw new Error(
      `the database "${db.databaseName}" has schema version ${version}, this program knows ${SCHEMA_VERSION}; it needs a newer Kiln`,
    );
  }
  await Promise.all(
    Object.entries(INDEXES).map(async ([name, indexes]) => {
      const collection = collections[name as keyof Collections];
      try {
        await createIndexes(collection, indexes);
      } catch (error) {
        if (!(error instanceof MongoServerError)) throw error;
        throw new Error(`the indexes of ${collection.namespace} cannot be made: ${error.message}`, { cause: error });
      }
    }),
  );
  return collections;
}

/**
 * A new index over millions of documents takes minutes, and the driver gives up a connection that says nothing for seconds. The server
 * goes on with it all the same, and who asks for it once more waits for the same one.
 */
async function createIndexes(
  collection: Pick<Collections[keyof Collections], 'createIndexes'>,
  indexes: readonly IndexDescription[],
): Promise<void> {
  for (;;) {
    try {
      await collection.createIndexes([...indexes]);
      return;
    } catch (error) {
      if (!(error instanceof MongoNetworkTimeoutError)) throw error;
    }
  }
}

/** Returns the version of the layout; where a program died while it migrated the documents, the one that all of them have. */
async function schemaVersion({ setting }: Collections): Promise<number | undefined> {
  const found = await setting.findOne({ _id: SCHEMA });
  if (found === null) return undefined;
  const { value, migrated = 0 } = found;
  if (typeof value === 'number') return value > SCHEMA_VERSION ? value : Math.min(value, migrated);
  throw new Error(
    `the database "${setting.dbName}" has a collection "setting" of another program; name another in the URL`,
  );
}

/**
 * Writes the version of the layout where it is missing. This precedes all else: collections without a version belong to
 * another program, and older programs refuse to start on a layout that they do not know.
 *
 * @returns the one that is there now: a newer program may have been faster
 */
async function claim({ setting }: Collections): Promise<number> {
  const update = { $max: { value: SCHEMA_VERSION, migrated: SCHEMA_VERSION } };
  const claimed = await setting.findOneAndUpdate({ _id: SCHEMA }, update, { upsert: true, returnDocument: 'after' });
  return claimed!.value;
}

async function refuseForeign(db: Db, collections: Collections): Promise<void> {
  const ours = new Set(Object.values(collections).map(({ collectionName }) => collectionName));
  const found = await db.listCollections({}, { nameOnly: true }).toArray();
  const taken = found.map(({ name }) => name).filter((name) => ours.has(name));
  // Another process may have just created them; the version, which it writes first, shows that.
  if (taken.length === 0 || (await schemaVersion(collections)) !== undefined) return;
  // It may even be about to: the collection is there a moment before what is put into it.
  const { setting } = collections;
  const isAlone = taken.length === 1 && taken[0] === setting.collectionName;
  if (isAlone && (await setting.findOne({ _id: { $ne: SCHEMA } }, LOCAL)) === null) return;
  throw new Error(
    `the database "${db.databaseName}" has collections of another program (${taken.join(', ')}); name another in the URL`,
  );
}
