import { setImmediate } from 'node:timers/promises';

import { cutChanges } from '../../change-pieces.js';
import type { Change, Guard } from '../../store.js';
import type { Thread } from './thread.js';
import type { PlainChange } from '../write/write.js';
import type { WriterOperations, Written } from './writer-operations.js';

/** Has writes done by the writer thread. */
export interface WriteSender {
  send(changes: readonly Change[], guards: readonly Guard[], now: number | undefined): Promise<Written>;
  /** Resolves when nothing is left to be sent. */
  sent(): Promise<void>;
}

/** Guards in a piece. */
const GUARDS = 200;

/** Part of what a write consists of. */
interface Piece {
  readonly changes: readonly Change[];
  readonly guards: readonly Guard[];
}

/**
 * Sends what a write consists of, in pieces where it is much: what crosses to another thread is copied first, and nobody else is
 * served while that goes on. The writer begins when it has all of them.
 */
export function openWriteSender(writer: Thread<WriterOperations>): WriteSender {
  let last = 0;
  const sending = new Set<Promise<void>>();

  async function sendPieces(write: number, pieces: readonly Piece[]): Promise<void> {
    try {
      for (const { changes, guards } of pieces) {
        writer.tell('stage', [write, changes.map(toPlain), guards]);
        await setImmediate();
      }
    } catch (error) {
      writer.tell('unstage', [write]);
      throw error;
    }
  }

  return {
    async send(changes, guards, now) {
      const pieces = changes.length <= 1 && guards.length <= GUARDS ? [] : [...cut(changes, guards)];
      if (pieces.length <= 1) return writer.request('write', [changes.map(toPlain), now, guards]);
      const write = ++last;
      const all = sendPieces(write, pieces);
      sending.add(all);
      try {
        await all;
        // In the same turn, so that nobody closes the thread in between.
        return await writer.request('writeStaged', [write, changes.length, now, guards.length]);
      } finally {
        sending.delete(all);
      }
    },
    async sent() {
      await Promise.allSettled(sending);
    },
  };
}

function* cut(changes: readonly Change[], guards: readonly Guard[]): Generator<Piece> {
  let asked = 0;
  for (const some of cutChanges(changes, (change) => change)) {
    yield { changes: some, guards: guards.slice(asked, asked + GUARDS) };
    asked += GUARDS;
  }
  for (; asked < guards.length; asked += GUARDS) yield { changes: [], guards: guards.slice(asked, asked + GUARDS) };
}

/** A change without what only other stores have a use for. */
function toPlain({ content: _content, ...plain }: Change): PlainChange {
  return plain;
}
