import { describe, expect, it } from 'vitest';

import { startChild } from './children.js';
import type { DurableSubject } from './durability.js';
import { put, useStore } from '../subject.js';

/** What is left of a write that stores take in pieces when its process dies. */
export function pieceDurability(on: DurableSubject): void {
  describe(`a process killed in a write of a thousand changes on ${on.name}`, () => {
    const subject = useStore(on);

    it.each([
      ...on.steps.inPieces.map(([step, times]) => [step, times, false] as const),
      ['committed', 0, true] as const,
    ])('at "%s", passed %i times before: all of it is there: %s', { timeout: 60_000 }, async (step, times, isThere) => {
      const { store } = subject;
      await store.write([put('a', 0, 'old')]);
      const child = await startChild(subject.url, 'piecesFault', step, times);
      child.begin();
      expect(await child.ended).toBe('SIGKILL');
      for (const look of [store, await subject.reopen()]) {
        expect((await look.history({ count: 0 })).total).toBe(isThere ? 1002 : 1);
        expect(await look.read('Patient', 'a')).toMatchObject({ version: isThere ? 2 : 1 });
        expect((await look.read('Patient', 'n999'))?.version).toBe(isThere ? 1 : undefined);
      }
      // Whoever was killed is in nobody's way.
      expect(await store.write([put('a', isThere ? 2 : 1)])).toHaveLength(1);
    });
  });
}
