import { MongoClient, type Collection, type Document } from 'mongodb';

import type { Resource } from '../../../runtime/fhir/resource.js';
import { BARE_COLUMNS, BARE_INDEXES } from './bare-columns.js';
import type { BareSearch } from './bare-search.js';
import type { ColumnTest, SearchCase } from '../data/search-cases.js';

/** The same on MongoDB, with the driver: collections with a field for each thing that is searched for. */
export async function openBareMongo(url: string, database: string, resources: Iterable<Resource>): Promise<BareSearch> {
  const client = new MongoClient(url, { readConcern: { level: 'majority' } });
  const db = client.db(database);
  const collections = new Map<string, Collection<Document>>();
  for (const type of Object.keys(BARE_COLUMNS)) collections.set(type, db.collection<Document>(type));
  await fill(collections, resources);
  return {
    async run(search, count) {
      const filter = toFilter(search);
      const sort: Record<string, 1 | -1> = {};
      if (search.order !== undefined) sort[search.order[0]] = search.order[1] === 'ASC' ? 1 : -1;
      const collection = collections.get(search.type)!;
      // One after the other, as a page and its total of one snapshot have to be.
      const page = await collection
        .find(filter, { projection: { body: 1 } })
        .sort({ ...sort, id: 1 })
        .limit(count + 1)
        .toArray();
      const rows = page.map(({ body }) => ({ id: String(body.id), body: body as object }));
      return { rows, total: await collection.countDocuments(filter, { limit: 1001 }) };
    },
    async close() {
      await db.dropDatabase();
      await client.close();
    },
  };
}

async function fill(
  collections: ReadonlyMap<string, Collection<Document>>,
  resources: Iterable<Resource>,
): Promise<void> {
  const waiting = new Map([...collections.keys()].map((type) => [type, [] as Document[]]));
  const flush = async (type: string, batch: Document[]): Promise<void> => {
    if (batch.length > 0) await collections.get(type)!.insertMany(batch.splice(0));
  };
  for (const resource of resources) {
    const batch = waiting.get(resource.resourceType);
    if (batch === undefined) continue;
    const fields = Object.entries(BARE_COLUMNS[resource.resourceType]!).map(([name, read]) => [name, read(resource)]);
    batch.push({ id: resource['id'], body: resource, ...Object.fromEntries(fields) });
    if (batch.length === 1000) await flush(resource.resourceType, batch);
  }
  for (const [type, batch] of waiting) {
    await flush(type, batch);
    for (const index of BARE_INDEXES[type] ?? []) {
      await collections
        .get(type)!
        .createIndex(Object.fromEntries(index.map(([column, direction]) => [column, direction === 'ASC' ? 1 : -1])));
    }
  }
}

function toFilter({ columns }: SearchCase): Document {
  return Object.fromEntries(Object.entries(columns).map(([column, test]) => [column, toTest(test)]));
}

function toTest(test: ColumnTest): unknown {
  if (typeof test !== 'object') return test;
  return Object.fromEntries(Object.entries(test).map(([sign, value]) => [`$${sign}`, value]));
}

/** A connection string with another database. */
export function withDatabase(url: string, name: string): string {
  const [, server = '', , query = ''] = /^(mongodb(?:\+srv)?:\/\/[^/?]+)(\/[^?]*)?(\?.*)?$/.exec(url) ?? [];
  return `${server}/${name}${query}`;
}
