import { MongoClient, type Collection, type Document } from 'mongodb';

import type { Resource } from '../../../runtime/fhir/resource.js';
import type { BareLinks } from './bare-links.js';
import type { LinkCase, LinkName } from '../data/link-cases.js';
import { LINK_TABLES } from './link-tables.js';

type Collections = (type: string) => Collection<Document>;
type Query = (
  of: Collections,
  values: LinkCase['values'],
) => Promise<{ readonly page: Document[]; readonly total: number }>;

/** A page of 21 in the order of ids, and the total up to 1,000. */
async function pageOf(collection: Collection<Document>, filter: Document) {
  const page = await collection
    .find(filter, { projection: { body: 1 } })
    .sort({ _id: 1 })
    .limit(21)
    .toArray();
  return { page, total: await collection.countDocuments(filter, { limit: 1001 }) };
}

async function idsOf(collection: Collection<Document>, filter: Document): Promise<unknown[]> {
  const found = await collection.find(filter, { projection: { _id: 1 } }).toArray();
  return found.map(({ _id }) => _id);
}

const bodies = (collection: Collection<Document>, filter: Document): Promise<Document[]> =>
  collection.find(filter, { projection: { body: 1 } }).toArray();

const QUERIES: Readonly<Record<LinkName, Query>> = {
  async chain(of, [mrn]) {
    return pageOf(of('Observation'), { patient: { $in: await idsOf(of('Patient'), { mrn }) } });
  },
  async 'chain of two'(of, [mrn]) {
    const patients = await idsOf(of('Patient'), { mrn });
    const encounters = await idsOf(of('Encounter'), { patient: { $in: patients } });
    return pageOf(of('Observation'), { encounter: { $in: encounters } });
  },
  async _has(of, [above]) {
    const filter = { code: '8480-6', unit: 'mm[Hg]', value: { $gt: above } };
    const ids = await of('Observation').distinct('patient', filter);
    return pageOf(of('Patient'), { _id: { $in: ids } });
  },
  async _include(of, [code]) {
    const { page, total } = await pageOf(of('Observation'), { code });
    const patients = page.map(({ body }) => String(body.subject.reference).split('/')[1]);
    return { page: [...page, ...(await bodies(of('Patient'), { _id: { $in: patients } }))], total };
  },
  async '_revinclude, iterated'(of, [mrn]) {
    const { page, total } = await pageOf(of('Patient'), { mrn });
    const visits = await bodies(of('Encounter'), { patient: { $in: page.map(({ _id }) => _id) } });
    const conditions = await bodies(of('Condition'), { encounter: { $in: visits.map(({ _id }) => _id) } });
    return { page: [...page, ...visits, ...conditions], total };
  },
  compartment: (of, [patient, code]) => pageOf(of('Observation'), { patient, code }),
  async 'system search'(of) {
    const newest = async (type: string) => {
      const page = await of(type).find({}, { projection: { body: 1, updated: 1 } }).sort({ updated: -1, _id: 1 }).limit(21).toArray();
      return { page, total: await of(type).countDocuments({}, { limit: 1001 }) };
    }; // prettier-ignore
    const [patients, encounters] = [await newest('Patient'), await newest('Encounter')];
    const page = [...patients.page, ...encounters.page]
      .sort((a, b) => b['updated'] - a['updated'] || (String(a['_id']) < String(b['_id']) ? -1 : 1))
      .slice(0, 21);
    return { page, total: patients.total + encounters.total };
  },
};

/** The same on MongoDB, with the driver: collections with a field for each thing that is searched for. */
export async function openBareMongoLinks(
  url: string,
  database: string,
  resources: Iterable<Resource>,
): Promise<BareLinks> {
  const client = new MongoClient(url, { readConcern: { level: 'majority' } });
  const db = client.db(database);
  const of: Collections = (type) => db.collection<Document>(type);
  await fill(of, resources);
  return {
    async run(name, { values }) {
      const { page, total } = await QUERIES[name](of, values);
      return { rows: page.map(({ _id, body }) => ({ id: String(_id), body: body as object })), total };
    },
    async close() {
      await db.dropDatabase();
      await client.close();
    },
  };
}

async function fill(of: Collections, resources: Iterable<Resource>): Promise<void> {
  const waiting = new Map(Object.keys(LINK_TABLES).map((type) => [type, [] as Document[]]));
  const flush = async (type: string, batch: Document[]): Promise<void> => {
    if (batch.length > 0) await of(type).insertMany(batch.splice(0));
  };
  let serial = 0;
  for (const resource of resources) {
    const at = serial++;
    const batch = waiting.get(resource.resourceType);
    if (batch === undefined) continue;
    const { columns } = LINK_TABLES[resource.resourceType]!;
    const fields = Object.entries(columns).map(([name, read]) => [name, read(resource, at)]);
    batch.push({ _id: resource['id'], body: resource, ...Object.fromEntries(fields) });
    if (batch.length === 1000) await flush(resource.resourceType, batch);
  }
  for (const [type, batch] of waiting) {
    await flush(type, batch);
    for (const index of LINK_TABLES[type]!.indexes) {
      await of(type).createIndex(Object.fromEntries(index.map(keyOf)));
    }
  }
}

/** A key of an index, as SQL has it. */
function keyOf(column: string): [string, 1 | -1] {
  const [name = '', direction] = column.split(' ');
  return [name === 'id' ? '_id' : name, direction === 'DESC' ? -1 : 1];
}
