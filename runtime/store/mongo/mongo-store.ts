import { Timestamp } from 'mongodb';

import { describeError } from '../../fhir/errors.js';
import { plainType } from '../contained-resources.js';
import { toLinePage } from '../line-page.js';
import type { Store } from '../store.js';
import { openAmend } from './write/amend.js';
import { openBlobs } from './write/blobs.js';
import { openCausal } from './read/causal.js';
import { openCopies } from './write/single/copies.js';
import { openPreconditionCheck } from './write/check-preconditions.js';
import { openServerClock, type ServerClock } from './clock.js';
import { connect, type Connected } from './connect.js';
import { openRestore, openScan } from './read/copy.js';
import { openCounts } from './read/counts.js';
import { openExpunge } from './write/expunge.js';
import { openFault } from './fault.js';
import { openChangeLog } from './log/change-log.js';
import { openCountBy } from './query/count-by.js';
import { openExplain } from './query/explain.js';
import { openFind } from './query/find.js';
import { openProbes } from './query/plan/probe.js';
import { openSearchTurns } from './query/run-search.js';
import { openHistory } from './read/history.js';
import { openMultiTypeSearch } from './query/multi-type-search.js';
import { queryBudgetOf } from '../query-budget.js';
import { openMaps, openSwapAll } from './read/maps.js';
import { prepare } from './write/prepare.js';
import { openReader } from './read/read.js';
import { openRecent } from './read/recent.js';
import { openReindex } from './write/reindex.js';
import { toSettings, type MongoOptions, type MongoSettings } from './settings.js';
import type { ClusterTime } from './read/batch.js';
import { openSnapshots } from './read/snapshot.js';
import type { SlotOf } from './bson/sort-slots.js';
import { openStaleTransactions } from './write/stale-transactions.js';
import { openStamps } from './write/stamps.js';
import { openTransactions } from './write/transaction.js';
import { openWriter } from './write/write.js';

/** How long `check` waits for its answer, in milliseconds. */
const CHECK_TIME = 3000;

/** Time limit of a restore transaction, in milliseconds. Restores are part of a copy, so no client waits for their large transactions. */
const RESTORE_TIME = 50_000;

/**
 * The store for several servers: a replica set, or a sharded cluster. Nothing is kept in the process but connections, the
 * offset of the clock, and the queues of waiting operations.
 *
 * @param url `mongodb://…` or `mongodb+srv://…`; its database, or `kiln`, is the store
 * @throws Error where it cannot be reached, cannot do what is needed, is newer, or belongs to another program
 */
export async function openMongoStore(url: string, options: MongoOptions = {}): Promise<Store> {
  const settings = toSettings(options);
  const connected = await connect(url, settings);
  try {
    const clock = await openServerClock(connected.client, connected.db);
    try {
      return await openStore(connected, clock, settings);
    } catch (error) {
      clock.close();
      throw error;
    }
  } catch (error) {
    await connected.client.close();
    throw error;
  }
}

async function openStore(server: Connected, clock: ServerClock, settings: MongoSettings): Promise<Store> {
  const { client, db } = server;
  const { queryBudget, operationTime: time } = settings;
  const collections = await prepare(db, settings.existing);
  const now = settings.now ?? (() => clock.now());
  const fault = openFault(settings.faultAt, settings.faultAfter);
  const stale = openStaleTransactions(client, db);
  const causal = openCausal(client, stale);
  const transactions = openTransactions(causal, fault, stale);
  const toTimestamp = ({ seconds, increment }: ClusterTime): Timestamp => new Timestamp({ t: seconds, i: increment });
  const snapshots = openSnapshots(server, causal, toTimestamp);
  const recent = openRecent();
  const reader = openReader(collections, causal, recent, time);
  const history = openHistory(snapshots, now);
  const turns = openSearchTurns(settings.poolSize);
  const probes = openProbes();
  // Contained resources are sorted like resources of their type.
  const slotOf: SlotOf = (type, param) => settings.slotOf(plainType(type), param);
  const isNameable = (type: string): boolean => settings.isNameable(plainType(type));
  const { linkLimits, planLimits } = settings;
  const findParts = { snapshots, turns, probes, slotOf, isNameable, linkLimits, planLimits, now };
  const [find, explain] = [openFind(findParts), openExplain(findParts)];
  const findMultiType = openMultiTypeSearch(findParts);
  const countBy = openCountBy(findParts);
  const reindex = openReindex({ collections, causal, transactions, slotOf, time });
  const amend = openAmend({ collections, transactions, slotOf, time });
  const remove = openExpunge({ collections, causal, transactions, time });
  const scan = openScan(snapshots);
  const counts = openCounts(snapshots);
  const blobs = openBlobs({ collections, causal, transactions, now, time, grace: settings.blobGrace, fault });
  const restore = openRestore(collections, transactions, RESTORE_TIME, slotOf);
  const copies = openCopies(collections, now, time);
  const writerParts = {
    collections,
    causal,
    transactions,
    slotOf,
    findBroken: openPreconditionCheck({ server, collections, probes, budget: settings.preconditionBudget }),
    swapAll: openSwapAll(collections, now),
    stamps: openStamps(now),
    settle: settings.now === undefined ? () => clock.settle() : async () => {},
    time,
    fault,
  };
  const write = openWriter(writerParts, copies, recent);
  const log = openChangeLog({ collections, causal, transactions, now, time, keep: settings.logKeep });
  let cleaning = Promise.resolve();
  const cleaner = setInterval(() => {
    // A failed clean-up is repeated at the next interval.
    cleaning = cleaning
      .then(() => blobs.clean())
      .then(() => copies.clean())
      .catch(() => {});
  }, settings.cleanInterval).unref();

  return {
    read: (type, id) => reader.current(type, id),
    readMany: (keys) => reader.many(keys),
    readVersion: (type, id, version) => reader.version(type, id, version),
    find: (query, signal) => find(query, { budget: queryBudgetOf(signal, queryBudget), signal }),
    findMultiType: (query, signal) => findMultiType(query, { budget: queryBudgetOf(signal, queryBudget), signal }),
    findLines: async (query, until, signal) =>
      toLinePage(await find(query, { budget: queryBudgetOf(signal, queryBudget), signal }), until),
    countBy: (query, signal) => countBy(query, { budget: queryBudgetOf(signal, queryBudget), signal }),
    explain: (query, signal) => explain(query, { budget: queryBudgetOf(signal, queryBudget), signal }),
    reindex,
    amend,
    expunge: remove,
    history: (query, signal) => history(query, { budget: queryBudgetOf(signal, queryBudget), signal }),
    scan: (after, limit) => scan(after, limit, { budget: queryBudget, signal: undefined }),
    write,
    restore,
    counts: () => counts({ budget: queryBudget, signal: undefined }),
    blobs,
    maps: openMaps(collections, causal, transactions, now, time),
    log,
    async check() {
      try {
        await reader.look(CHECK_TIME);
        return { ok: true };
      } catch (error) {
        return { ok: false, detail: describeError(error) };
      }
    },
    async close() {
      clearInterval(cleaner);
      clock.close();
      await cleaning;
      await copies.close();
      await log.close();
      await client.close();
    },
  };
}
