import type { Db, MongoClient } from 'mongodb';

import { tables } from '../../../generated/tables.js';
import { parametersOf } from '../../../runtime/indexing/parameters-of.js';
import type { Raw } from '../../../runtime/store/mongo/bson/bson.js';
import type { ResourceDocument } from '../../../runtime/store/mongo/bson/documents.js';
import { VERSION_ONLY } from '../../../runtime/store/mongo/bson/stored-version.js';
import { grouped } from '../../../runtime/store/mongo/grouped.js';
import { copyVersion, toDocument, toPast } from '../../../runtime/store/mongo/write/plan-write.js';
import { prepare } from '../../../runtime/store/mongo/write/prepare.js';
import { clinic } from '../data/clinic.js';
import { toPut } from '../data/load-clinic.js';
import type { SameKeys } from './by-hand.js';

/** Documents that are written again and again, under other ids. */
const DOCUMENTS = 100;

/** Resources that are updated in turn, many more than clients. */
const UPDATED = 2000;

/** The store's documents and indexes in a database of its own, written with the driver. */
export async function openSameKeys(client: MongoClient, db: Db): Promise<SameKeys> {
  const { resource, history } = await prepare(db, false);
  const search = new Map(tables.search.map((table) => [table.type, table]));
  const slotOf = (type: string, code: string): number | undefined => parametersOf(type, search).get(code)?.slot;
  const observations = [...clinic(1000).resources].filter(({ resourceType }) => resourceType === 'Observation');
  const documents = observations
    .slice(0, DOCUMENTS)
    .map((one) => toDocument(toPut(one), 1, { updated: Date.now(), n: 0 }, slotOf).document);
  const document = (n: number, id: string): ResourceDocument => {
    const content = new Map(documents[n % DOCUMENTS]!.resource as Map<string, unknown>).set('id', id);
    return { ...documents[n % DOCUMENTS]!, _id: `Observation/${id}`, id, updated: new Date(), n, resource: content };
  };
  const versions = Array.from({ length: UPDATED }, () => 1);
  let filled: Promise<unknown> | undefined;
  const fill = () => resource.insertMany(versions.map((_version, i) => document(i, `updated-${i}`)));

  /** The documents of one moment share commands, as in the store. No mark is left on copies, and nothing asks what became of a write. */
  const update = grouped<number, true>(async (places) => {
    const filter = { _id: { $in: places.map((place) => `Observation/updated-${place}`) } };
    const found = await resource.find<Raw>(filter, { raw: true, projection: VERSION_ONLY }).toArray();
    const copies = found.map((bytes) => toPast(copyVersion(bytes), Date.now()));
    await history.insertMany(copies, { ordered: false });
    const steps = places.map((place) => {
      const { _id, ...replacement } = document(place, `updated-${place}`);
      const version = versions[place]!++;
      return { replaceOne: { filter: { _id, version }, replacement: { ...replacement, version: version + 1 } } };
    });
    const { matchedCount } = await resource.bulkWrite(steps, { ordered: false, ignoreUndefined: true });
    if (matchedCount !== places.length) throw new Error('a version that was to be replaced is not there');
    return places.map(() => true);
  });
  return {
    async update(n) {
      await (filled ??= fill());
      await update(n % UPDATED);
    },
    create: (n) => resource.insertOne(document(n, `same-${n}`), { ignoreUndefined: true }),
    transaction: (n, count) =>
      client.withSession((session) =>
        session.withTransaction(() =>
          resource.insertMany(
            Array.from({ length: count }, (_, i) => document(i, `copy-${n}-${i}`)),
            { session, ignoreUndefined: true },
          ),
        ),
      ),
  };
}
