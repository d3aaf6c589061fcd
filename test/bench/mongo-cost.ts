import { MongoClient, type Collection, type Db, type Document } from 'mongodb';

import { tables } from '../../generated/tables.js';
import type { Resource } from '../../runtime/fhir/resource.js';
import { parametersOf } from '../../runtime/search/parameters-of.js';
import { openMongoStore } from '../../runtime/store/mongo/mongo-store.js';
import type { FindQuery, Store } from '../../runtime/store/store.js';
import { withDatabase } from './bare-search-mongo.js';
import { clinic, createRandom, mrn, pick } from './clinic.js';
import { load, toPut } from './load-clinic.js';
import { readConditions } from './read-conditions.js';
import type { Bench, Measured, Row } from './row.js';

const RESOURCES = 12_000;
/** Pieces of work that are under way at a time. */
const CLIENTS = 8;
const PAGE = 20;
const ROUNDS = 4;
const EACH_ROUND = 160;

/**
 * What writes, histories, counts, chains and sorted pages cost on MongoDB: the time of this process and of the server together,
 * beside the same by hand with the driver, on collections and indexes made for it. Waiting for the disk or for other programs
 * is no cost. `npm run bench -- mongo-cost --store=mongodb://…` has it use databases of its own there.
 */
export const bench: Bench = async () => {
  const url = process.env['KILN_BENCH_STORE'];
  if (url === undefined) throw new Error('say where: npm run bench -- mongo-cost --store=mongodb://HOST');
  const client = new MongoClient(url, {
    writeConcern: { w: 'majority', journal: true },
    readConcern: { level: 'majority' },
  });
  const names = { kiln: `kiln_bench_cost_${process.pid}`, bare: `kiln_bench_cost_bare_${process.pid}` };
  const search = new Map(tables.search.map((table) => [table.type, table]));
  const slotOf = (type: string, code: string): number | undefined => parametersOf(type, search).get(code)?.slot;
  const store = await openMongoStore(withDatabase(url, names.kiln), { slotOf });
  const db = client.db(names.bare);
  try {
    const resources = [...clinic(RESOURCES).resources];
    await load(store, resources);
    await fill(db, resources);
    const rows: Row[] = [];
    for (const [name, [ours, byHand]] of Object.entries(works(store, db, resources))) {
      const totals = [emptyTotal(), emptyTotal()] as const;
      for (let round = 0; round <= ROUNDS; round++) {
        await measure(client, ours, round === 0 ? emptyTotal() : totals[0]);
        await measure(client, byHand, round === 0 ? emptyTotal() : totals[1]);
      }
      rows.push({
        name: `MongoDB: ${name}`,
        unit: 'requests',
        measured: withTimes(totals[0]),
        floor: { name: 'by hand', measured: withTimes(totals[1]) },
      });
    }
    return rows;
  } finally {
    await store.close();
    for (const name of Object.values(names)) await client.db(name).dropDatabase();
    await client.close();
  }
};

type One = (n: number) => Promise<unknown>;

interface Total {
  count: number;
  wallMs: number;
  cpuMs: number;
  readonly each: number[];
}

function emptyTotal(): Total {
  return { count: 0, wallMs: 0, cpuMs: 0, each: [] };
}

function withTimes({ each, ...total }: Total): Measured {
  const sorted = each.toSorted((a, b) => a - b);
  const at = (share: number): number => sorted[Math.floor(sorted.length * share)]!;
  return { ...total, times: { p50: at(0.5), p99: at(0.99) } };
}

/** Serial of each piece of work, so that none is the same twice. */
let serial = 0;

async function measure(client: MongoClient, one: One, total: Total): Promise<void> {
  const server = await serverCpu(client);
  const cpu = process.cpuUsage();
  const start = performance.now();
  await Promise.all(
    Array.from({ length: CLIENTS }, async () => {
      for (let i = 0; i < EACH_ROUND / CLIENTS; i++) {
        const begun = performance.now();
        await one(serial++);
        total.each.push(performance.now() - begun);
      }
    }),
  );
  total.wallMs += performance.now() - start;
  const { user, system } = process.cpuUsage(cpu);
  total.cpuMs += (user + system) / 1000 + (await serverCpu(client)) - server;
  total.count += EACH_ROUND;
}

/** Processor time of the server so far, in milliseconds. */
async function serverCpu(client: MongoClient): Promise<number> {
  const { extra_info: info } = await client.db('admin').command({ serverStatus: 1 });
  return (Number(info.user_time_us) + Number(info.system_time_us)) / 1000;
}

/** What is measured: by the store, and by hand. */
function works(store: Store, db: Db, resources: readonly Resource[]): Record<string, readonly [One, One]> {
  const of = (type: string): Collection<Document> => db.collection(type);
  const versions = db.collection<Document>('versions');
  const patients = resources.filter(({ resourceType }) => resourceType === 'Patient');
  const observations = resources.filter(({ resourceType }) => resourceType === 'Observation');
  const random = createRandom(3);
  const ours = new Map<string, number>();
  const theirs = new Map<string, number>();

  /** The next resource of a client that no other client updates, and the version that it has. */
  const turn = (n: number, of: Map<string, number>): { readonly resource: Resource; readonly version: number } => {
    const resource = observations[n % observations.length]!;
    const version = of.get(String(resource['id'])) ?? 1;
    of.set(String(resource['id']), version + 1);
    return { resource, version };
  };
  const find = (type: string, query: [string, string][], more: Partial<FindQuery> = {}) =>
    store.find({ type, where: { all: readConditions(type, query) }, sort: [], count: PAGE, total: 'cheap', ...more });
  const page = (collection: Collection<Document>, filter: Document, sort: Record<string, 1 | -1>) =>
    collection.find(filter, { projection: { body: 1 } }).sort(sort).limit(PAGE + 1).toArray(); // prettier-ignore
  const ids = async (type: string, filter: Document): Promise<unknown[]> =>
    (
      await of(type)
        .find(filter, { projection: { _id: 1 } })
        .toArray()
    ).map(({ _id }) => _id);
  const history = async (scope: Document): Promise<void> => {
    await page(versions, scope, { updated: -1, n: -1 });
    await versions.countDocuments(scope);
  };

  return {
    create: [
      (n) => store.write([toPut({ ...observations[0]!, id: `new-${n}` })]),
      (n) => of('Observation').insertOne(toDocument({ ...observations[0]!, id: `new-${n}` })),
    ],
    update: [
      async (n) => {
        const { resource, version } = turn(n, ours);
        await store.write([{ ...toPut(resource), expected: version }]);
      },
      async (n) => {
        const { resource, version } = turn(n, theirs);
        const _id = String(resource['id']) as never;
        const before = await of('Observation').findOne({ _id });
        await versions.insertOne({ ...before, _id: `${_id}/${version}` as never, updated: new Date(), n, type: 'Observation' }); // prettier-ignore
        const { _id: _, ...document } = toDocument(resource, version + 1);
        await of('Observation').replaceOne({ _id, version }, document);
      },
    ],
    'update of one without a copy': [
      async (n) => {
        const { resource, version } = turn(n, ours);
        await store.write([{ ...toPut(resource), expected: version }]);
      },
      async (n) => {
        const { resource, version } = turn(n, theirs);
        const { _id, ...document } = toDocument(resource, version + 1);
        await of('Observation').replaceOne({ _id: _id as never, version }, document);
      },
    ],
    read: [
      (n) => store.read('Observation', String(observations[n % observations.length]!['id'])),
      (n) => of('Observation').findOne({ _id: observations[n % observations.length]!['id'] as never }, { projection: { body: 1 } }), // prettier-ignore
    ],
    'count of 7,000': [
      () => find('Observation', [['status', 'final']], { count: 0, total: 'accurate' }),
      () => of('Observation').countDocuments({ status: 'final' }),
    ],
    'history of a type': [
      () => store.history({ type: 'Observation', count: PAGE }),
      () => history({ type: 'Observation' }),
    ],
    'history of the system': [() => store.history({ count: PAGE }), () => history({})],
    'chain of two': [
      () =>
        find('Observation', [['encounter.subject:Patient.identifier', mrn(Math.floor(random() * patients.length))]]),
      async () => {
        const people = await ids('Patient', { mrn: mrn(Math.floor(random() * patients.length)).split('|')[1] });
        const visits = await ids('Encounter', { patient: { $in: people } });
        await page(of('Observation'), { encounter: { $in: visits } }, { _id: 1 });
        await of('Observation').countDocuments({ encounter: { $in: visits } }, { limit: 1001 });
      },
    ],
    'pages of a code, sorted by date': [
      async () => {
        const code = `http://loinc.org|${codeOf(pick(random, observations))}`;
        const query: FindQuery = {
          type: 'Observation',
          where: { all: readConditions('Observation', [['code', code]]) },
          sort: [{ param: 'date', by: 'date', isDescending: true }],
          count: PAGE,
          total: 'none',
        };
        let next: string | undefined;
        for (let i = 0; i < 3; i++) ({ next } = await store.find({ ...query, ...(next !== undefined && { after: next }) })); // prettier-ignore
      },
      async () => {
        const code = codeOf(pick(random, observations));
        let bound: Document = {};
        for (let i = 0; i < 3; i++) {
          const found = await page(of('Observation'), { code, ...bound }, { effective: -1, _id: 1 });
          bound = { effective: { $lt: found.at(-1)?.['body'].effectiveDateTime } };
        }
      },
    ],
  };
}

function codeOf(resource: Resource): string {
  return (resource as unknown as { code: { coding: { code: string }[] } }).code.coding[0]!.code;
}

/** Indexes made for what is measured. */
const INDEXES: Readonly<Record<string, readonly Record<string, 1 | -1>[]>> = {
  Patient: [{ mrn: 1 }],
  Encounter: [{ patient: 1, _id: 1 }],
  Observation: [
    { status: 1 },
    { encounter: 1, _id: 1 },
    { patient: 1, _id: 1 },
    { code: 1, effective: -1, _id: 1 },
    { effective: -1, _id: 1 },
    { code: 1, unit: 1, value: 1 },
  ],
  versions: [
    { updated: -1, n: -1 },
    { type: 1, updated: -1, n: -1 },
  ],
};

async function fill(db: Db, resources: readonly Resource[]): Promise<void> {
  for (const [name, indexes] of Object.entries(INDEXES)) {
    await db.createCollection(name);
    for (const index of indexes) await db.collection(name).createIndex(index);
  }
  for (let from = 0; from < resources.length; from += 1000) {
    const some = resources.slice(from, from + 1000);
    for (const type of new Set(some.map(({ resourceType }) => resourceType))) {
      const those = some.filter(({ resourceType }) => resourceType === type);
      await db.collection<Document>(type).insertMany(those.map((one) => toDocument(one)));
    }
    await db
      .collection<Document>('versions')
      .insertMany(some.map((body, n) => ({ type: body.resourceType, updated: new Date(), n, body })));
  }
}

/** What the queries by hand are about. */
interface Searched {
  readonly id: string;
  readonly subject?: { readonly reference: string };
  readonly encounter?: { readonly reference: string };
  readonly effectiveDateTime?: string;
  readonly valueQuantity?: { readonly code: string; readonly value: number };
  readonly status?: string;
  readonly identifier?: readonly { readonly value: string }[];
}

function toDocument(body: Resource, version = 1): Document {
  const { id, subject, encounter, effectiveDateTime, valueQuantity, status, identifier } = body as unknown as Searched;
  const idIn = (reference: { reference: string } | undefined): string | undefined => reference?.reference.split('/')[1];
  return {
    _id: id,
    version,
    body,
    status,
    mrn: identifier?.[0]?.value,
    patient: idIn(subject),
    encounter: idIn(encounter),
    code: body.resourceType === 'Observation' ? codeOf(body) : undefined,
    effective: effectiveDateTime,
    unit: valueQuantity?.code,
    value: valueQuantity?.value,
  };
}
