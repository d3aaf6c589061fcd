import { MongoClient, type Collection, type Document } from 'mongodb';

import type { Resource } from '../../../runtime/fhir/resource.js';
import { byType, COUNTED, INDEXES, PAGE, toColumns, type ByHand } from './by-hand.js';
import { openSameKeys } from './mongo-same-keys.js';

/** On a database of its own of a MongoDB, with the driver; each write is confirmed by a majority. */
export async function openMongoByHand(url: string, name: string): Promise<ByHand> {
  const client = new MongoClient(url, {
    writeConcern: { w: 'majority', journal: true },
    readConcern: { level: 'majority' },
  });
  const db = client.db(name);
  const of = (type: string): Collection<Document> => db.collection(type);
  const versions = of('versions');
  const page = (collection: Collection<Document>, filter: Document, sort: Record<string, 1 | -1> = { _id: 1 }) =>
    collection
      .find(filter, { projection: { body: 1 } })
      .sort(sort)
      .limit(PAGE + 1)
      .toArray();
  const ids = async (type: string, filter: Document): Promise<unknown[]> => {
    const found = await of(type)
      .find(filter, { projection: { _id: 1 } })
      .toArray();
    return found.map(({ _id }) => _id);
  };
  const pageAndTotal = async (type: string, filter: Document): Promise<Document[]> => {
    const found = await page(of(type), filter);
    await of(type).countDocuments(filter, { limit: COUNTED + 1 });
    return found;
  };
  const same = client.db(`${name}_same`);
  const sameKeys = await openSameKeys(client, same);
  let serial = 0;
  const replace = async (resource: Resource, version: number): Promise<void> => {
    const { _id, ...document } = toDocument(resource, version + 1);
    const { matchedCount } = await of(resource.resourceType).replaceOne({ _id, version }, document);
    if (matchedCount !== 1) throw new Error(`no version ${version} of ${resource.resourceType}/${String(_id)}`);
  };
  return {
    async fill(resources) {
      for (const [type, indexes] of Object.entries(INDEXES)) {
        await db.createCollection(type);
        for (const index of indexes) {
          await of(type).createIndex(
            Object.fromEntries(index.map(([column, order]) => [column === 'id' ? '_id' : column, order])),
          );
        }
      }
      await versions.createIndex({ updated: -1, n: -1 });
      await versions.createIndex({ type: 1, updated: -1, n: -1 });
      for (let from = 0; from < resources.length; from += 1000) {
        const some = resources.slice(from, from + 1000);
        for (const [type, those] of byType(some)) {
          await of(type).insertMany(those.map((one) => toDocument(one)));
        }
        await versions.insertMany(
          some.map((body) => ({ type: body.resourceType, updated: new Date(), n: serial++, body })),
        );
      }
    },
    create: (resource) => of(resource.resourceType).insertOne(toDocument(resource)),
    transaction: (resources) =>
      client.withSession((session) =>
        session.withTransaction(async () => {
          for (const [type, those] of byType(resources)) {
            await of(type).insertMany(
              those.map((one) => toDocument(one)),
              { session },
            );
          }
        }),
      ),
    async update(resource, version) {
      const before = await of(resource.resourceType).findOne({ _id: resource['id'] as never });
      const past = { ...before, _id: `${String(resource['id'])}/${version}` as never, type: resource.resourceType };
      await versions.insertOne({ ...past, updated: new Date(), n: serial++ });
      await replace(resource, version);
    },
    sameKeys,
    replace,
    read: (type, id) => of(type).findOne({ _id: id as never }, { projection: { body: 1 } }),
    find: (type, column, value) => pageAndTotal(type, { [column]: value }),
    quantity: (code, unit, above) => pageAndTotal('Observation', { code, unit, value: { $gt: above } }),
    async chain(mrn) {
      const people = await ids('Patient', { mrn });
      const visits = await ids('Encounter', { patient: { $in: people } });
      return pageAndTotal('Observation', { encounter: { $in: visits } });
    },
    async include(code) {
      const found = await pageAndTotal('Observation', { code });
      const subjects = new Set(found.map(({ body }) => String(toColumns(body as Resource).patient)));
      await page(of('Patient'), { _id: { $in: [...subjects] } });
    },
    count: (status) => of('Observation').countDocuments({ status }),
    async history(type) {
      const scope = type === undefined ? {} : { type };
      await page(versions, scope, { updated: -1, n: -1 });
      await versions.countDocuments(scope);
    },
    async pagesByDate(code, pages) {
      let bound: Document = {};
      for (let i = 0; i < pages; i++) {
        const found = await page(of('Observation'), { code, ...bound }, { effective: -1, _id: 1 });
        bound = { effective: { $lt: toColumns(found.at(-1)?.['body'] as Resource).effective } };
      }
    },
    async cpu() {
      const { extra_info: info } = await client.db('admin').command({ serverStatus: 1 });
      return (Number(info.user_time_us) + Number(info.system_time_us)) / 1000;
    },
    async close() {
      await db.dropDatabase();
      await same.dropDatabase();
      await client.close();
    },
  };
}

function toDocument(body: Resource, version = 1): Document {
  return { _id: body['id'], version, body, ...toColumns(body) };
}
