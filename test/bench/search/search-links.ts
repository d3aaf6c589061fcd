import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

import { MongoClient } from 'mongodb';

import { tables } from '../../../generated/tables.js';
import { parametersOf } from '../../../runtime/indexing/parameters-of.js';
import type { Condition } from '../../../runtime/search/query/query.js';
import { openMongoStore } from '../../../runtime/store/mongo/mongo-store.js';
import { openSqliteStore } from '../../../runtime/store/sqlite/sqlite-store.js';
import type { FindPage, Store } from '../../../runtime/store/store.js';
import { openBareMongoLinks } from '../bare/bare-links-mongo.js';
import { openBareLinks, type BareLinks } from '../bare/bare-links.js';
import { withDatabase } from '../bare/bare-search-mongo.js';
import { clinic, createRandom } from '../data/clinic.js';
import { inTurn } from '../measuring/in-turn.js';
import { acrossQuery, INCLUDES, LINK_CASES, type LinkCase, type LinkName } from '../data/link-cases.js';
import { load } from '../data/load-clinic.js';
import { readConditions } from '../data/read-conditions.js';
import type { Bench, Row } from '../measuring/row.js';

const PAGE = 20;
const RESOURCES = 100_000;
const ROUNDS = 100;
/** Rounds of all kinds before the first is measured, so that code of V8 is settled that they share. */
const WARM_UP = 5;

/**
 * Searches across 100,000 resources through the store, each against a query written by hand on tables and indexes made for
 * it alone. With `--store=mongodb://…` on databases of its own there.
 */
export const bench: Bench = async () => {
  const url = process.env['KILN_BENCH_STORE'];
  // It stands still while a batch is written: by hand what is loaded together has one time, too.
  let instant = Date.now();
  const now = (): number => instant;
  const { store, openBare, close } = url === undefined ? openSqlite(now) : await openMongo(url, now);
  const records = clinic(RESOURCES);
  try {
    await load(store, records.resources, () => void (instant = Math.max(instant + 1, Date.now())));
    const bare = await openBare();
    try {
      const rows: Row[] = [];
      const mix = LINK_CASES.map(({ name, draw }) => {
        const random = createRandom(7);
        return { name, drawn: Array.from({ length: ROUNDS }, () => draw(random, records)) };
      });
      for (const { name, drawn } of mix) {
        for (const each of drawn.slice(0, 10)) await checkAnswers(name, each, store, bare);
      }
      for (let round = 0; round < WARM_UP; round++) {
        for (const { name, drawn } of mix) {
          for (const each of drawn) {
            await toWork(each, store)();
            await bare.run(name, each, PAGE);
          }
        }
      }
      for (const { name, drawn } of mix) {
        const { measured, floor } = await inTurn(
          drawn.map((each) => toWork(each, store)),
          drawn.map((each) => () => bare.run(name, each, PAGE)),
        );
        const title = `search on ${url === undefined ? 'SQLite' : 'MongoDB'}: ${name}`;
        rows.push({
          name: title,
          unit: 'pages',
          measured,
          floor: { name: 'by hand', measured: floor },
          goal: { times: 2 },
        });
      }
      return rows;
    } finally {
      await bare.close();
    }
  } finally {
    await close();
  }
};

interface Subject {
  readonly store: Store;
  readonly openBare: () => Promise<BareLinks>;
  readonly close: () => Promise<void>;
}

function openSqlite(now: () => number): Subject {
  const folder = mkdtempSync(join(tmpdir(), 'kiln-bench-'));
  const store = openSqliteStore(`sqlite:${join(folder, 'kiln.db')}`, { now });
  return {
    store,
    openBare: () => openBareLinks(join(folder, 'bare.db'), clinic(RESOURCES).resources),
    async close() {
      await store.close();
      rmSync(folder, { recursive: true });
    },
  };
}

async function openMongo(url: string, now: () => number): Promise<Subject> {
  const database = `kiln_bench_links_${process.pid}`;
  const search = new Map(tables.search.map((table) => [table.type, table]));
  const slotOf = (type: string, code: string): number | undefined => parametersOf(type, search).get(code)?.slot;
  const store = await openMongoStore(withDatabase(url, database), { slotOf, now });
  return {
    store,
    openBare: () => openBareMongoLinks(url, `${database}_bare`, clinic(RESOURCES).resources),
    async close() {
      await store.close();
      const client = new MongoClient(url);
      await client.db(database).dropDatabase();
      await client.close();
    },
  };
}

/** As a server asks the store; criteria are read each time as with every request. */
function toWork({ type, query, compartment, include, across }: LinkCase, store: Store): () => Promise<FindPage> {
  if (across !== undefined) return () => store.findMultiType(acrossQuery(across, PAGE));
  return () => {
    const where: Condition[] = [...readConditions(type, query)];
    if (compartment !== undefined) {
      const { id, params } = compartment;
      const test = { is: 'reference', types: ['Patient'], id } as const;
      where.push({ some: params.map((param) => ({ param, any: [test] })) });
    }
    return store.find({
      type,
      where: { all: where },
      sort: [],
      count: PAGE,
      total: 'cheap',
      ...(include !== undefined && { include: { directives: include, ...INCLUDES } }),
    });
  };
}

/** Both have to find the same, or their times mean nothing. */
async function checkAnswers(name: LinkName, each: LinkCase, store: Store, bare: BareLinks): Promise<void> {
  const { versions, included = [] } = await toWork(each, store)();
  const ours = [...versions, ...included].map(({ id }) => id);
  const { rows } = await bare.run(name, each, PAGE);
  const theirs = new Set(rows.map(({ id }) => id));
  // By hand one more is read than is shown, and what comes with it.
  if (!ours.every((id) => theirs.has(id)) || theirs.size > ours.length + 2) {
    throw new Error(`${name} ${JSON.stringify(each.values)}: ${ours.length} by Kiln, ${theirs.size} by hand`);
  }
}
