import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout } from 'node:timers/promises';

import { tables } from '../../generated/tables.js';
import { parametersOf } from '../../runtime/indexing/parameters-of.js';
import type { Store } from '../../runtime/store/store.js';
import { clinic } from './data/clinic.js';
import type { ByHand } from './compare/by-hand.js';
import { goalRows, type Work } from './compare/goal-rows.js';
import { load } from './data/load-clinic.js';
import type { Bench, Measured, Row } from './measuring/row.js';
import { MONGO_REST } from './measuring/waits.js';

const RESOURCES = 12_000;
/** Pieces of work that are under way at a time. */
const CLIENTS = 8;
/** How long a row of ours runs before it is measured, in milliseconds: as V8 has compiled what a server runs that is up for a minute. */
const WARM_UP = 1500;
const ROUNDS = 4;
/** Pieces of a round, as a share of those of the warm-up. */
const SHARE = 1 / 8;

/**
 * What reads, writes, histories, counts and searches cost a store without HTTP, beside the same by hand with the bare driver, on tables
 * made for it: processor time of this process and of the database's together. Waiting for the disk or for other programs is no cost.
 * With `--store=mongodb://…` it uses databases of its own there, else files of SQLite.
 */
export const bench: Bench = async () => {
  const url = process.env['KILN_BENCH_STORE'];
  const { name, store, byHand, close } = await (url === undefined ? openSqlite() : openMongo(url));
  try {
    const resources = [...clinic(RESOURCES).resources];
    await load(store, resources);
    await byHand.fill(resources);
    if (url !== undefined) await setTimeout(MONGO_REST);
    const rows: Row[] = [];
    for (const { name: kind, ours, theirs, unit = 'requests', each = 1 } of goalRows(store, byHand, resources)) {
      const totals = [emptyTotal(), emptyTotal()] as const;
      // Both sides do as many: updates leave as much behind.
      const warm = emptyTotal();
      await measure(byHand, ours, warm, Infinity, WARM_UP);
      await measure(byHand, theirs, emptyTotal(), warm.count);
      for (let round = 0; round < ROUNDS; round++) {
        const pieces = Math.ceil(warm.count * SHARE);
        await measure(byHand, ours, totals[0], pieces);
        await measure(byHand, theirs, totals[1], pieces);
      }
      rows.push({
        name: `${name}: ${kind}`,
        unit,
        measured: withTimes(totals[0], each),
        floor: { name: 'by hand', measured: withTimes(totals[1], each) },
      });
    }
    return rows;
  } finally {
    await close();
  }
};

interface Compared {
  readonly name: string;
  readonly store: Store;
  readonly byHand: ByHand;
  close(): Promise<void>;
}

async function openSqlite(): Promise<Compared> {
  const [{ openSqliteStore }, { openSqliteByHand }] = await Promise.all([
    import('../../runtime/store/sqlite/sqlite-store.js'),
    import('./compare/sqlite-by-hand.js'),
  ]);
  const folder = mkdtempSync(join(tmpdir(), 'kiln-bench-'));
  const store = openSqliteStore(`sqlite:${join(folder, 'kiln.db')}`);
  const byHand = openSqliteByHand(join(folder, 'hand.db'));
  const close = async (): Promise<void> => {
    await Promise.all([store.close(), byHand.close()]);
    rmSync(folder, { recursive: true });
  };
  return { name: 'SQLite', store, byHand, close };
}

async function openMongo(url: string): Promise<Compared> {
  const [{ MongoClient }, { openMongoStore }, { openMongoByHand }, { withDatabase }] = await Promise.all([
    import('mongodb'),
    import('../../runtime/store/mongo/mongo-store.js'),
    import('./compare/mongo-by-hand.js'),
    import('./bare/bare-search-mongo.js'),
  ]);
  const name = `kiln_bench_cost_${process.pid}`;
  const search = new Map(tables.search.map((table) => [table.type, table]));
  const slotOf = (type: string, code: string): number | undefined => parametersOf(type, search).get(code)?.slot;
  const isNameable = (type: string): boolean => parametersOf(type, search).has('url');
  const store = await openMongoStore(withDatabase(url, name), { slotOf, isNameable, operationTime: 60_000 });
  const byHand = await openMongoByHand(url, `${name}_bare`);
  const close = async (): Promise<void> => {
    await Promise.all([store.close(), byHand.close()]);
    const client = new MongoClient(url);
    await client.db(name).dropDatabase();
    await client.close();
  };
  return { name: 'MongoDB', store, byHand, close };
}

interface Total {
  count: number;
  wallMs: number;
  cpuMs: number;
  readonly each: number[];
}

function emptyTotal(): Total {
  return { count: 0, wallMs: 0, cpuMs: 0, each: [] };
}

function withTimes({ each: times, count, ...total }: Total, each: number): Measured {
  const sorted = times.toSorted((a, b) => a - b);
  const at = (share: number): number => sorted[Math.floor(sorted.length * share)]!;
  return { ...total, count: count * each, times: { p50: at(0.5), p99: at(0.99) } };
}

/** Serial of each piece of work, so that none is the same twice. */
let serial = 0;

/** @param pieces how many are done, by all clients together, unless the time is over before */
async function measure(byHand: ByHand, one: Work, total: Total, pieces: number, time = Infinity): Promise<void> {
  const beside = await byHand.cpu();
  const cpu = process.cpuUsage();
  const start = performance.now();
  let begunPieces = 0;
  await Promise.all(
    Array.from({ length: CLIENTS }, async () => {
      while (begunPieces < pieces && performance.now() - start < time) {
        begunPieces++;
        const begun = performance.now();
        await one(serial++);
        total.each.push(performance.now() - begun);
      }
    }),
  );
  total.wallMs += performance.now() - start;
  const { user, system } = process.cpuUsage(cpu);
  total.cpuMs += (user + system) / 1000 + (await byHand.cpu()) - beside;
  total.count += begunPieces;
}
