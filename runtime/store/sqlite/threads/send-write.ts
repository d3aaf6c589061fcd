import { setImmediate } from 'node:timers/promises';

import { cutChanges } from '../../change-pieces.js';
import type { Change, MapStep, Precondition } from '../../store.js';
import type { Thread } from './thread.js';
import type { PlainChange } from '../write/write.js';
import type { WriterOperations, Written } from './writer-worker.js';

/** Has writes done by the writer thread. */
export interface WriteSender {
  send(
    changes: readonly Change[],
    preconditions: readonly Precondition[],
    now: number | undefined,
    steps: readonly MapStep[],
  ): Promise<Written>;
  /** Resolves when nothing is left to be sent. */
  sent(): Promise<void>;
}

/** Preconditions in a piece. */
const PRECONDITIONS = 200;

/** Part of what a write consists of. */
interface Piece {
  readonly changes: readonly Change[];
  readonly preconditions: readonly Precondition[];
}

/**
 * Sends what a write consists of, in pieces where it is much: what crosses to another thread is copied first, and no other request is
 * served while that goes on. The writer begins when it has all of them.
 */
export function openWriteSender(writer: Thread<WriterOperations>): WriteSender {
  let last = 0;
  const sending = new Set<Promise<void>>();

  async function sendPieces(write: number, pieces: readonly Piece[]): Promise<void> {
    try {
      for (const { changes, preconditions } of pieces) {
        writer.tell('stage', [write, changes.map(toPlain), preconditions]);
        await setImmediate();
      }
    } catch (error) {
      writer.tell('unstage', [write]);
      throw error;
    }
  }

  return {
    async send(changes, preconditions, now, steps) {
      const pieces =
        changes.length <= 1 && preconditions.length <= PRECONDITIONS ? [] : [...cut(changes, preconditions)];
      if (pieces.length <= 1) {
        const plain = changes.map(toPlain);
        return writer.request('write', steps.length === 0 ? [plain, now, preconditions] : [plain, now, preconditions, steps]); // prettier-ignore
      }
      const write = ++last;
      const all = sendPieces(write, pieces);
      sending.add(all);
      try {
        await all;
        // In the same turn, so that no other call closes the thread in between.
        return await writer.request('writeStaged', [write, changes.length, now, preconditions.length, steps]);
      } finally {
        sending.delete(all);
      }
    },
    async sent() {
      await Promise.allSettled(sending);
    },
  };
}

function* cut(changes: readonly Change[], preconditions: readonly Precondition[]): Generator<Piece> {
  let asked = 0;
  for (const some of cutChanges(changes, (change) => change)) {
    yield { changes: some, preconditions: preconditions.slice(asked, asked + PRECONDITIONS) };
    asked += PRECONDITIONS;
  }
  for (; asked < preconditions.length; asked += PRECONDITIONS)
    yield { changes: [], preconditions: preconditions.slice(asked, asked + PRECONDITIONS) };
}

/** A change without what only other stores have a use for. */
function toPlain(change: Change): PlainChange {
  const { type, id, expected, amended } = change;
  if (amended !== undefined || change.unreferred !== undefined) {
    const { content: _content, ...plain } = change;
    if (plain.body !== undefined) return plain;
    const { refuse: _refuse, ...deletion } = plain;
    return deletion;
  }
  if (change.body === undefined) return { type, id, expected };
  // Written out: to leave a member out of a copy of all takes several times as long.
  const { body, entries, contained, targets } = change;
  const plain = contained === undefined ? { type, id, expected, body, entries } : { type, id, expected, body, entries, contained }; // prettier-ignore
  return targets === undefined ? plain : Object.assign(plain, { targets });
}
