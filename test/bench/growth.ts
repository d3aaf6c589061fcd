import { randomUUID } from 'node:crypto';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

import { MongoClient } from 'mongodb';

import { tables } from '../../generated/tables.js';
import type { Resource } from '../../runtime/fhir/resource.js';
import { parametersOf } from '../../runtime/indexing/parameters-of.js';
import { openMongoStore } from '../../runtime/store/mongo/mongo-store.js';
import { openSqliteStore } from '../../runtime/store/sqlite/sqlite-store.js';
import type { Change, FindPage, Store } from '../../runtime/store/store.js';
import { withDatabase } from './bare/bare-search-mongo.js';
import { clinic, createRandom, type Clinic } from './data/clinic.js';
import { GROWTH_KINDS, PAGE, type GrowthKind, type GrowthQuery } from './data/growth-kinds.js';
import { load, toPut } from './data/load-clinic.js';
import type { Bench, Measured, Row } from './measuring/row.js';
import { cpuOf, MONGO_REST } from './measuring/waits.js';

const SIZES = [10_000, 100_000, 1_000_000];

/** The page that is measured beside the first. */
const LATER = 5;

/** Searches drawn of each kind, and for how many milliseconds they run before they are measured, and then. */
const DRAWN = 40;
const [WARM_UP, RUN] = [300, 700];

/** Of slow searches at least so many are measured. */
const LEAST = 4;

/** Of the searches on a tenth of the data at least this share is done in the same time: 1 / 1.3. */
const GOAL = 0.77;

/** The same of creates and updates: 1 / 1.15. */
const WRITE_GOAL = 0.87;

/** Writes of each kind before they are measured, and then, and clients that send them. */
const [WRITES_BEFORE, WRITES, WRITERS] = [400, 2000, 4];

/** Resources of all that updates are drawn from, at most. */
const SAMPLED = 20_000;

/** Kinds whose names have one of these, separated by `|`, are measured alone. */
const ONLY = process.env['KILN_BENCH_ONLY'];

function isChosen({ name }: GrowthKind): boolean {
  return ONLY === undefined || ONLY.split('|').some((each) => name.includes(each));
}

/** Milliseconds between two writes beside the searches. */
const PAUSE = 100;

/**
 * What the first and a later page of each kind of search cost as the data grow: processor time of the process and, with
 * `--store=mongodb://…`, of the database. A client writes ten resources of another type a second meanwhile. With `--large` on a million
 * resources, too. Only full pages are judged, and no answers that tell of all matches. After the searches come creates and updates.
 */
export const bench: Bench = async () => {
  const sizes = process.env['KILN_BENCH_LARGE'] === undefined ? SIZES.slice(0, 2) : SIZES;
  const rows: Row[] = [];
  const before = new Map<string, Point>();
  for (const size of sizes) {
    for (const [name, point] of await measureSize(size)) {
      const floor = before.get(name);
      const isJudged = floor?.isFull === true && point.isFull;
      rows.push({
        name: `${size.toLocaleString('en-US')}: ${name}${point.looked}`,
        unit: point.isWrite === true ? 'writes' : 'answers',
        measured: point.measured,
        ...(floor && { floor: { name: 'a tenth of the data', measured: floor.measured } }),
        ...(isJudged && { goal: { ratio: point.isWrite === true ? WRITE_GOAL : GOAL } }),
      });
      before.set(name, point);
    }
  }
  return rows.sort((a, b) => kindOf(a).localeCompare(kindOf(b)));
};

function kindOf({ name }: Row): string {
  return name.replace(/^[\d,]+: /, '').replace(/ \([^)]*\)$/, '');
}

/** What one kind costs on data of one size. */
interface Point {
  readonly measured: Measured;
  /** How many index entries, rows and documents were looked at for it, in the middle of some, where that is counted. */
  readonly looked: string;
  readonly isFull: boolean;
  readonly isWrite?: true;
}

interface Subject {
  readonly store: Store;
  readonly usedBy: () => number;
  readonly close: () => Promise<void>;
}

async function measureSize(size: number): Promise<readonly (readonly [name: string, point: Point])[]> {
  const url = process.env['KILN_BENCH_STORE'];
  const subject = url === undefined ? openSqlite() : await openMongo(url, size);
  const records = clinic(size);
  const points: (readonly [string, Point])[] = [];
  try {
    await load(subject.store, records.resources);
    if (url !== undefined) await new Promise((resolve) => setTimeout(resolve, MONGO_REST));
    const writer = writeBeside(subject.store);
    try {
      for (const kind of GROWTH_KINDS.filter(isChosen)) points.push(...(await measureKind(kind, records, subject)));
    } finally {
      await writer.stop();
    }
    if (ONLY === undefined) points.push(...(await measureWrites(size, subject)));
  } finally {
    await subject.close();
  }
  return points;
}

async function measureKind(
  kind: GrowthKind,
  records: Clinic,
  { store, usedBy }: Subject,
): Promise<readonly (readonly [string, Point])[]> {
  const random = createRandom(17);
  const drawn = Array.from({ length: DRAWN }, () => kind.draw(random, records));
  const looked = [];
  for (const each of drawn.slice(0, 9)) looked.push('type' in each ? (await store.explain(each)).examined : undefined);
  const middle = looked.toSorted((a = 0, b = 0) => a - b)[4];
  const first = await measurePages(drawn, store, usedBy);
  const rows = middle === undefined ? '' : ` (${middle} rows)`;
  const isJudged = kind.isOfAll !== true;
  const points: (readonly [string, Point])[] = [
    [`${kind.name}, page 1`, { ...first, isFull: first.isFull && isJudged, looked: rows }],
  ];
  const later: GrowthQuery[] = [];
  for (const each of drawn.slice(0, DRAWN / 4)) {
    const after = await placeOf(each, store);
    if (after !== undefined) later.push({ ...each, after });
  }
  if (later.length < DRAWN / 8) return points;
  return [...points, [`${kind.name}, page ${LATER}`, { ...(await measurePages(later, store, usedBy)), looked: '' }]];
}

/** Creates Observations, and updates some of those that were loaded, each by itself. */
async function measureWrites(size: number, { store, usedBy }: Subject): Promise<readonly (readonly [string, Point])[]> {
  const random = createRandom(23);
  const all: Resource[] = [];
  let n = 0;
  for (const resource of clinic(size).resources)
    if (resource.resourceType === 'Observation' && n++ % Math.ceil(size / SAMPLED) === 0) all.push(resource);
  const versions = new Map<string, number>();
  const draw = (): Resource => all[Math.floor(random() * all.length)]!;
  const create = (): Change => toPut({ ...draw(), id: randomUUID() });
  const update = (): Change => {
    const drawn = draw();
    const expected = versions.get(String(drawn.id)) ?? 1;
    versions.set(String(drawn.id), expected + 1);
    return { ...toPut({ ...drawn, note: [{ text: `version ${expected + 1}` }] }), expected };
  };
  const points: (readonly [string, Point])[] = [];
  for (const [name, make] of [
    ['create', create],
    ['update', update],
  ] as const) {
    await writeAll(store, Array.from({ length: WRITES_BEFORE }, make));
    const changes = Array.from({ length: WRITES }, make);
    const [begun, before] = [performance.now(), usedBy()];
    await writeAll(store, changes);
    const measured = { count: WRITES, wallMs: performance.now() - begun, cpuMs: usedBy() - before };
    points.push([name, { measured, looked: '', isFull: true, isWrite: true }]);
  }
  return points;
}

/** Writes each change by itself; several of one resource in their order, for the same client sends them. */
async function writeAll(store: Store, changes: readonly Change[]): Promise<void> {
  const clients = Array.from({ length: WRITERS }, (): Change[] => []);
  for (const change of changes) clients[change.id.charCodeAt(change.id.length - 1) % WRITERS]!.push(change);
  await Promise.all(
    clients.map(async (own) => {
      for (const change of own) await store.write([change]);
    }),
  );
}

/** Where the later page begins; undefined: there are not so many. */
async function placeOf(query: GrowthQuery, store: Store): Promise<string | undefined> {
  let after: string | undefined;
  for (let page = 1; page < LATER; page++) {
    ({ next: after } = await find(store, after === undefined ? query : { ...query, after }));
    if (after === undefined) return undefined;
  }
  return after;
}

async function measurePages(
  queries: readonly GrowthQuery[],
  store: Store,
  usedBy: () => number,
): Promise<Pick<Point, 'measured' | 'isFull'>> {
  let least = PAGE;
  const runFor = async (time: number): Promise<Measured> => {
    const [begun, before] = [performance.now(), usedBy()];
    let count = 0;
    while (count < LEAST || performance.now() - begun < time) {
      const { versions } = await find(store, queries[count++ % queries.length]!);
      least = Math.min(least, versions.length);
    }
    return { count, wallMs: performance.now() - begun, cpuMs: usedBy() - before };
  };
  await runFor(WARM_UP);
  const measured = await runFor(RUN);
  return { measured, isFull: least === PAGE };
}

function find(store: Store, query: GrowthQuery): Promise<FindPage> {
  return 'type' in query ? store.find(query) : store.findMultiType(query);
}

/** A client that writes ten resources a second of a type that nothing searches. */
function writeBeside(store: Store): { readonly stop: () => Promise<void> } {
  let isOver = false;
  const writing = (async (): Promise<void> => {
    for (let n = 0; !isOver; n++) {
      await store.write([toPut({ resourceType: 'Flag', id: `beside-${n}`, status: 'active' })]);
      await new Promise((resolve) => setTimeout(resolve, PAUSE));
    }
  })();
  return {
    stop() {
      isOver = true;
      return writing;
    },
  };
}

function ownTime(): number {
  const { user, system } = process.cpuUsage();
  return (user + system) / 1000;
}

function openSqlite(): Subject {
  const folder = mkdtempSync(join(tmpdir(), 'kiln-bench-'));
  const store = openSqliteStore(`sqlite:${join(folder, 'kiln.db')}`);
  return {
    store,
    usedBy: ownTime,
    async close() {
      await store.close();
      rmSync(folder, { recursive: true });
    },
  };
}

async function openMongo(url: string, size: number): Promise<Subject> {
  const database = `kiln_bench_growth_${size}_${process.pid}`;
  const search = new Map(tables.search.map((table) => [table.type, table]));
  const slotOf = (type: string, code: string): number | undefined => parametersOf(type, search).get(code)?.slot;
  const isNameable = (type: string): boolean => parametersOf(type, search).has('url');
  const store = await openMongoStore(withDatabase(url, database), { slotOf, isNameable });
  const client = new MongoClient(url);
  const { pid } = (await client.db('admin').command({ serverStatus: 1 })) as unknown as { readonly pid: bigint };
  return {
    store,
    usedBy: () => ownTime() + cpuOf(Number(pid)),
    async close() {
      await store.close();
      await client.db(database).dropDatabase();
      await client.close();
    },
  };
}
