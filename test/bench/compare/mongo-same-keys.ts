import type { Db, MongoClient } from 'mongodb';

import { tables } from '../../../generated/tables.js';
import { parametersOf } from '../../../runtime/search/parameters-of.js';
import type { ResourceDocument } from '../../../runtime/store/mongo/bson/documents.js';
import { toDocument } from '../../../runtime/store/mongo/write/plan-write.js';
import { prepare } from '../../../runtime/store/mongo/write/prepare.js';
import { clinic } from '../data/clinic.js';
import { toPut } from '../data/load-clinic.js';
import type { SameKeys } from './by-hand.js';

/** Documents that are written again and again, under other ids. */
const DOCUMENTS = 100;

/** The store's documents and indexes in a database of its own, written with the driver. */
export async function openSameKeys(client: MongoClient, db: Db): Promise<SameKeys> {
  const { resource } = await prepare(db, false);
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
  return {
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
