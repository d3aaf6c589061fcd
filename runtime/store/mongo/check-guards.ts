import type { ClientSession, Db, Document } from 'mongodb';

import { GUARD_BUDGET } from '../guard-budget.js';
import type { Guard } from '../store.js';
import { fieldsOf, readValue, type Raw } from './bson.js';
import { toOrder } from './find/order.js';
import { findPage, openSearch } from './find/page.js';
import type { Probes } from './find/probe.js';
import { mergeGuards } from './merge-guards.js';
import { isTimeUp, isTransient, tooCostly } from './mongo-errors.js';
import { toSnapshot, type Send, type Snapshot } from './snapshot.js';
import { VERSION_ONLY } from './stored-version.js';

/**
 * A guard whose search finds something else in the snapshot of a transaction; undefined: there is none. Before the changes.
 *
 * @throws FhirError `too-costly` where a search takes longer than `GUARD_BUDGET`
 */
export type GuardCheck = (guards: readonly Guard[], session: ClientSession) => Promise<Guard | undefined>;

/** Searches in transactions. */
export function openGuardCheck(db: Db, probes: Probes): GuardCheck {
  async function holds({ type, where, found }: Guard, session: ClientSession): Promise<boolean> {
    const expected = new Set(found);
    // One more than there may be is enough to know.
    const count = expected.size + 1;
    const snapshot = idsOnly(inTransaction(db, session, performance.now() + GUARD_BUDGET));
    const order = toOrder(type, [], () => undefined);
    const query = { type, where, sort: [], count, total: 'none' } as const;
    const { batch } = await findPage(await openSearch(snapshot, probes, query, order, undefined), count);
    const ids = batch.documents.map((bytes) => idOf(bytes).slice(type.length + 1));
    return ids.length === expected.size && ids.every((id) => expected.has(id));
  }

  async function findBroken(guards: readonly Guard[], session: ClientSession): Promise<Guard | undefined> {
    for (const guard of guards) if (!(await holds(guard, session))) return guard;
    return undefined;
  }

  return async (guards, session) => {
    try {
      for (const { of, ...guard } of mergeGuards(guards)) {
        if (await holds(guard, session)) continue;
        const broken = of.length === 1 ? of[0] : await findBroken(of, session);
        if (broken !== undefined) return broken;
      }
      return undefined;
    } catch (error) {
      throw isTimeUp(error) && !isTransient(error) ? tooCostly() : error;
    }
  };
}

/** What is read in a transaction: one command at a time, for the server takes no more. @param deadline as of `performance.now()` */
function inTransaction(db: Db, session: ClientSession, deadline: number): Snapshot {
  let last: Promise<unknown> = Promise.resolve();
  const send: Send = (what, options, atMost = Infinity) => {
    // After a failure nothing more is sent.
    const next = last.then((): Promise<Document> => {
      const left = Math.min(atMost, deadline - performance.now());
      if (left <= 0) throw tooCostly();
      return db.command({ ...what, maxTimeMS: Math.ceil(left) }, { ...options, session });
    });
    last = next;
    return next;
  };
  // Nobody asks for the time of a transaction, which its first command sets.
  const time = () => Promise.resolve({ seconds: 0, increment: 0 });
  return toSnapshot(db, send, time, (command) => send({ explain: command }, {}));
}

/** The same, without contents. */
function idsOnly(snapshot: Snapshot): Snapshot {
  const projection = { _id: 1 };
  return {
    ...snapshot,
    find: (query) => snapshot.find(query.projection === VERSION_ONLY ? { ...query, projection } : query),
    pipeline: ({ pipeline, ...query }) =>
      snapshot.pipeline({ ...query, pipeline: [...pipeline, { $project: projection }] }),
  };
}

function idOf(bytes: Raw): string {
  return String(readValue(bytes, fieldsOf(bytes).get('_id')!));
}
