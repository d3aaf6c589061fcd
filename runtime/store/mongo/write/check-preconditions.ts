import type { ClientSession, Document } from 'mongodb';

import type { Precondition } from '../../store.js';
import { openAsk } from '../query/ask.js';
import { LINK_LIMITS } from '../query/links/limits.js';
import { openLinks } from '../query/links/links.js';
import type { Probes } from '../query/plan/probe.js';
import { openScope } from '../query/scope.js';
import { findHits } from '../query/search.js';
import { KEYS } from '../query/walks.js';
import { MONGO_LIMITS } from '../../plan/limits.js';
import type { Collections } from '../bson/documents.js';
import { openFinder, readTokens } from './precondition-tokens.js';
import { mergePreconditions, type MergedPrecondition } from './merge-preconditions.js';
import { isTimeUp, isTransient, tooCostly } from '../mongo-errors.js';
import { toSnapshot, type ReadServer, type Send, type Snapshot } from '../read/snapshot.js';

/**
 * A precondition whose search finds something else in the snapshot of a transaction; undefined: there is none. Before the changes.
 *
 * @throws FhirError `too-costly` where a search takes longer than the budget
 */
export type PreconditionCheck = (
  preconditions: readonly Precondition[],
  session: ClientSession,
) => Promise<Precondition | undefined>;

/** Parts of the store that searches of preconditions need. */
export interface PreconditionParts {
  readonly server: ReadServer;
  readonly collections: Pick<Collections, 'resource'>;
  readonly probes: Probes;
  /** How long each may take, in milliseconds. */
  readonly budget: number;
}

/** Searches in transactions. */
export function openPreconditionCheck({ server, collections, probes, budget }: PreconditionParts): PreconditionCheck {
  async function holds({ type, where, found }: Precondition, session: ClientSession): Promise<boolean> {
    // One more than there may be is enough to know.
    const count = found.length + 1;
    const snapshot = inTransaction(server, session, performance.now() + budget);
    const parts = { probes, linkLimits: LINK_LIMITS, planLimits: MONGO_LIMITS, isNameable: () => true };
    const links = openLinks(parts, openAsk(snapshot), { _id: 1 });
    const { hits } = await findHits(
      { scope: openScope(links, type, where), order: undefined, reading: KEYS },
      undefined,
      count,
    );
    const ids = hits.map(({ key }) => key.slice(type.length + 1));
    return isSame(ids, found);
  }

  async function findBroken(
    preconditions: readonly Precondition[],
    session: ClientSession,
  ): Promise<Precondition | undefined> {
    for (const merged of mergePreconditions(preconditions)) {
      const broken = await findAmong(merged, session);
      if (broken !== undefined) return broken;
    }
    return undefined;
  }

  async function findAmong(merged: MergedPrecondition, session: ClientSession): Promise<Precondition | undefined> {
    const { of, found } = merged;
    const isHeld = await holds(merged, session);
    if (of.length === 1) return isHeld ? undefined : of[0];
    if (isHeld) return found.length === 0 ? undefined : findOdd(merged, session);
    const middle = of.length >> 1;
    return (await findBroken(of.slice(0, middle), session)) ?? findBroken(of.slice(middle), session);
  }

  /** Together they find what they should: one of them that does not find its own. */
  async function findOdd(
    { type, found, of }: MergedPrecondition,
    session: ClientSession,
  ): Promise<Precondition | undefined> {
    const find = openFinder(await readTokens(collections.resource, type, found, session, budget));
    return of.find((precondition) => !isSame(find(precondition.where), precondition.found));
  }

  return async (preconditions, session) => {
    try {
      return await findBroken(preconditions, session);
    } catch (error) {
      throw isTimeUp(error) && !isTransient(error) ? tooCostly() : error;
    }
  };
}

/** What is read in a transaction: one command at a time, for the server takes no more. @param deadline as of `performance.now()` */
function inTransaction(server: ReadServer, session: ClientSession, deadline: number): Snapshot {
  let last: Promise<unknown> = Promise.resolve();
  const send: Send = (what, options, atMost = Infinity) => {
    // After a failure nothing more is sent.
    const next = last.then((): Promise<Document> => {
      const left = Math.min(atMost, deadline - performance.now());
      if (left <= 0) throw tooCostly();
      return server.db.command({ ...what, maxTimeMS: Math.ceil(left) }, { ...options, session });
    });
    last = next;
    return next;
  };
  // The time is unused: the first command of a transaction sets it.
  const time = () => Promise.resolve({ seconds: 0, increment: 0 });
  return toSnapshot(server, send, time, (command) => send({ explain: command }, {}));
}

/** @param ids each once */
function isSame(ids: readonly string[], found: readonly string[]): boolean {
  const expected = new Set(found);
  return ids.length === expected.size && ids.every((id) => expected.has(id));
}
