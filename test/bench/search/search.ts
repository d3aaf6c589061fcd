import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

import { MongoClient } from 'mongodb';

import { tables } from '../../../generated/tables.js';
import type { Resource } from '../../../runtime/fhir/resource.js';
import { parametersOf } from '../../../runtime/indexing/parameters-of.js';
import { openMongoStore } from '../../../runtime/store/mongo/mongo-store.js';
import { openSqliteStore } from '../../../runtime/store/sqlite/sqlite-store.js';
import type { FindQuery, Store } from '../../../runtime/store/store.js';
import { openBareMongo, withDatabase } from '../bare/bare-search-mongo.js';
import { openBareSqlite, type BareSearch } from '../bare/bare-search.js';
import { clinic, createRandom, type Clinic, type Random } from '../data/clinic.js';
import { inTurn, type Compared, type Work } from '../measuring/in-turn.js';
import { load } from '../data/load-clinic.js';
import { readConditions } from '../data/read-conditions.js';
import type { Bench, Measured, Row } from '../measuring/row.js';
import { CASES, MOST, type CaseKind, type SearchCase } from '../data/search-cases.js';

const PAGE = 20;
const LARGE = 100_000;
const SMALL = 10_000;
const ROUNDS = 200;
const DEEP = 1000;

/** How often every search of the mix is done before one is measured, so that V8 has compiled what they share for all kinds. */
const WARM_UP = 5;

type Size = 'large' | 'small';

/** The stores that are measured, and what they are held against. */
interface Subjects {
  readonly large: Store;
  readonly small: Store;
  /** Loads the data that it searches. */
  readonly openBare: (size: Size, resources: Iterable<Resource>) => Promise<BareSearch>;
  readonly close: () => Promise<void>;
}

/**
 * Searches over 100,000 resources through the store, each against a query written by hand on a table and an index made for
 * it alone; the 1,000th page against the first; and 100,000 resources against 10,000: the mix as it is drawn, where some
 * kinds have ten times the matches, and each kind with as many matches in both. With `--store=mongodb://…` on databases of
 * its own there.
 */
export const bench: Bench = async () => {
  const url = process.env['KILN_BENCH_STORE'];
  const name = url === undefined ? 'SQLite' : 'MongoDB';
  const subjects = url === undefined ? openSqlite() : await openMongo(url);
  const records = clinic(LARGE);
  const few = clinic(SMALL);
  try {
    await load(subjects.large, records.resources);
    await load(subjects.small, few.resources);
    const bare = await subjects.openBare('large', clinic(LARGE).resources);
    const bareFew = await subjects.openBare('small', clinic(SMALL).resources);
    try {
      const rows: Row[] = [];
      const mix = CASES.map((kind) => {
        const random = createRandom(7);
        return { kind, drawn: Array.from({ length: ROUNDS }, () => kind.draw(random, records)) };
      });
      for (let round = 0; round < WARM_UP; round++) {
        for (const each of mix.flatMap(({ drawn }) => drawn)) {
          await subjects.large.find(toQuery(each));
          await bare.run(each, PAGE);
        }
      }
      for (const { kind, drawn } of mix) {
        const { measured, floor } = await inTurn(
          drawn.map((each) => () => subjects.large.find(toQuery(each))),
          drawn.map((each) => () => bare.run(each, PAGE)),
        );
        rows.push(rowOf(`search on ${name}: ${kind.name}`, measured, 'by hand', floor, { times: 2 }));
        const ours = (each: SearchCase, size: Size) => subjects[size].find(toQuery(each));
        const draw = (random: Random, size: Size) => kind.draw(random, size === 'large' ? records : few);
        const { drawAlike } = kind;
        const alike = await growth((random, size) => drawAlike?.(random, size === 'small') ?? draw(random, size), ours);
        rows.push(
          rowOf(`search: ${kind.name}, growth`, alike.measured, 'a tenth of the data', alike.floor, { times: 1.5 }),
        );
        if (drawAlike === undefined) continue;
        const byHand = await growth(draw, (each, size) => (size === 'large' ? bare : bareFew).run(each, PAGE));
        rows.push(growthRow(kind, await growth(draw, ours), byHand));
      }
      const whole = await mixGrowth((each, size) => subjects[size].find(toQuery(each)), { large: records, small: few });
      rows.push({
        ...rowOf('search: the mix, growth', whole.measured, 'a tenth of the data', whole.floor, { times: 1.5 }),
        unit: 'mixes',
      });
      rows.push(await deepPage(subjects.large));
      return rows;
    } finally {
      await bare.close();
      await bareFew.close();
    }
  } finally {
    await subjects.close();
  }
};

function openSqlite(): Subjects {
  const folder = mkdtempSync(join(tmpdir(), 'kiln-bench-'));
  const large = openSqliteStore(`sqlite:${join(folder, 'large.db')}`);
  const small = openSqliteStore(`sqlite:${join(folder, 'small.db')}`);
  return {
    large,
    small,
    openBare: (size, resources) => openBareSqlite(join(folder, `bare-${size}.db`), resources),
    async close() {
      await large.close();
      await small.close();
      rmSync(folder, { recursive: true });
    },
  };
}

async function openMongo(url: string): Promise<Subjects> {
  const names = ['large', 'small'].map((size) => `kiln_bench_${size}_${process.pid}`) as [string, string];
  const slotOf = (type: string, code: string): number | undefined => parametersOf(type, search).get(code)?.slot;
  const [large, small] = (await Promise.all(
    names.map((database) => openMongoStore(withDatabase(url, database), { slotOf })),
  )) as [Store, Store];
  return {
    large,
    small,
    openBare: (size, resources) => openBareMongo(url, `kiln_bench_bare_${size}_${process.pid}`, resources),
    async close() {
      await large.close();
      await small.close();
      const client = new MongoClient(url);
      for (const name of names) await client.db(name).dropDatabase();
      await client.close();
    },
  };
}

function rowOf(name: string, measured: Measured, floorName: string, floor: Measured, goal: Row['goal']): Row {
  return { name, unit: 'pages', measured, floor: { name: floorName, measured: floor }, ...(goal && { goal }) };
}

/** Searches over all the data, and over a tenth of it. */
async function growth(
  draw: (random: Random, size: Size) => SearchCase,
  run: (each: SearchCase, size: Size) => Promise<unknown>,
): Promise<Compared> {
  const works = (size: Size): Work[] => {
    const random = createRandom(11);
    return Array.from({ length: ROUNDS }, () => {
      const each = draw(random, size);
      return () => run(each, size);
    });
  };
  return inTurn(works('large'), works('small'));
}

/** Each search of the mix once, one after the other, as drawn for either size: over all the data, and over a tenth of it. */
async function mixGrowth(
  run: (each: SearchCase, size: Size) => Promise<unknown>,
  clinics: Readonly<Record<Size, Clinic>>,
): Promise<Compared> {
  const works = (size: Size): Work[] => {
    const random = createRandom(13);
    return Array.from({ length: ROUNDS }, () => {
      const drawn = CASES.map((kind) => kind.draw(random, clinics[size]));
      return async () => {
        for (const each of drawn) await run(each, size);
      };
    });
  };
  return inTurn(works('large'), works('small'));
}

/**
 * One kind where ten times the data are ten times the matches: told beside what it takes by hand, not judged by itself, for
 * the pages are fuller and whoever puts the matches in order and counts them needs longer. The mix as a whole is judged.
 */
function growthRow(kind: CaseKind, { measured, floor }: Compared, byHand: Compared): Row {
  const grown = byHand.measured.times!.p50 / byHand.floor.times!.p50;
  const name = `a tenth of the data (${grown.toFixed(1)} x by hand)`;
  return rowOf(`search: ${kind.name}, ten times the matches`, measured, name, floor, undefined);
}

/** The 1,000th page of a search that finds most of all Observations, against its first. */
async function deepPage(store: Store): Promise<Row> {
  const first: FindQuery = toQuery(MOST);
  let query = first;
  for (let page = 1; page < DEEP; page++) {
    const { next } = await store.find({ ...query, total: 'none' });
    if (next === undefined) throw new Error(`there are only ${page} pages`);
    query = { ...first, after: next };
  }
  const works = (each: FindQuery) => Array.from({ length: ROUNDS }, () => () => store.find({ ...each, total: 'none' }));
  const { measured, floor } = await inTurn(works(query), works(first));
  return rowOf(`search: page ${DEEP}`, measured, 'page 1', floor, { times: 1.5 });
}

const search = new Map(tables.search.map((table) => [table.type, table]));

function toQuery({ type, query, sort }: SearchCase): FindQuery {
  const rows = parametersOf(type, search);
  const code = sort?.replace('-', '');
  const row = code === undefined ? undefined : rows.get(code);
  return {
    type,
    where: { all: readConditions(type, query) },
    sort: row === undefined ? [] : [{ param: row.code, by: row.type as 'date', isDescending: sort!.startsWith('-') }],
    count: PAGE,
    total: 'cheap',
  };
}
