import { beforeEach, describe, expect, it } from 'vitest';

import type { Store } from '../../../runtime/store/store.js';
import { holder, identified, LARGE, largeWrite } from './child-guards.js';
import { startChild, type Child } from './children.js';
import type { DurableSubject } from './durability.js';
import { useStore } from '../subject.js';

/** What guards are worth where processes meet and die. */
export function guardDurability(on: DurableSubject): void {
  describe(`guards of writes on ${on.name}, over processes`, () => {
    const subject = useStore(on);
    let store: Store;
    beforeEach(() => {
      store = subject.store;
    });

    /** What two processes say that do the same at once. */
    async function inTwo<T>(role: Parameters<typeof startChild>[1], count: number): Promise<(T & Said)[]> {
      const children: Child[] = await Promise.all(['x', 'y'].map((name) => startChild(subject.url, role, name, count)));
      for (const { begin } of children) begin();
      for (const { ended } of children) expect(await ended).toBe(0);
      return children.map(({ said: [result] }) => result as T & Said);
    }

    it('200 conditional creations of one criterion at once make one resource', { timeout: 60_000 }, async () => {
      const said = await inTwo<{ ids: string[] }>('createOnce', 100);
      const { versions, total } = await store.history({ count: 9 });
      expect(total).toBe(1);
      for (const { ids } of said) expect(ids).toEqual([versions[0]!.id]);
      expectFewTransactions(said, 100);
    });

    it('conditional updates of one criterion at once make one chain of versions', { timeout: 60_000 }, async () => {
      const said = await inTwo<{ results: string[] }>('updateOne', 60);
      expect(said.flatMap(({ results }) => results).filter((result) => result === 'created')).toHaveLength(1);
      const { versions, total } = await store.history({ count: 200 });
      expect(total).toBe(120);
      expect(new Set(versions.map(({ id }) => id)).size).toBe(1);
      expect(versions.map(({ version }) => version)).toEqual(Array.from({ length: 120 }, (_, i) => 120 - i));
      expectFewTransactions(said, 60);
    });

    it('of many that expect to be the first one is, and few are tried again', { timeout: 60_000 }, async () => {
      const said = await inTwo<{ won: number }>('writeOnce', 100);
      expect(said.reduce((sum, { won }) => sum + won, 0)).toBe(1);
      expect((await store.history({ count: 0 })).total).toBe(1);
      expectFewTransactions(said, 100);
    });

    it('crossing writes never half apply', { timeout: 60_000 }, async () => {
      const rounds = 40;
      const said = await inTwo<{ won: number }>('cross', rounds);
      expect(said.reduce((sum, { won }) => sum + won, 0)).toBe(rounds);
      for (let n = 0; n < rounds; n++) {
        const [x, y] = await Promise.all(
          ['x', 'y'].map(async (name) => {
            const keys = Array.from({ length: 5 }, (_, i) => ({ type: 'Patient', id: `${name}${n}-${i}` }));
            return (await store.readMany(keys)).filter((version) => version !== undefined).length;
          }),
        );
        expect([x, y].sort()).toEqual([0, 5]);
      }
    });

    describe(`a process killed in a write of ${LARGE} changes with guards`, () => {
      const { before, within = [], after } = on.steps;
      const write = before.filter((step) => step !== 'piece');
      it.each([
        ...['preconditions', ...write].map((step) => [step, 0, false] as const),
        ...within.map(([step, times]) => [step, times, false] as const),
        ...after.map((step) => [step, 0, true] as const),
      ])(
        'at "%s", passed %i times before: all of it is there: %s',
        { timeout: 30_000 },
        async (step, times, isThere) => {
          await store.write([holder('a', 'a'), holder('gone', 'gone')]);
          const child = await startChild(subject.url, 'largeFault', step, times);
          child.begin();
          expect(await child.ended).toBe('SIGKILL');
          for (const look of [store, await subject.reopen()]) {
            expect((await look.history({ count: 0 })).total).toBe(isThere ? 2 + LARGE : 2);
            expect(await look.counts()).toEqual(new Map([['Patient', isThere ? LARGE - 1 : 2]]));
            expect(await look.read('Patient', 'a')).toMatchObject({ version: isThere ? 2 : 1 });
            for (const code of ['a', 'gone', 'moved', 'n0', 'n47']) {
              const { versions } = await look.find({ ...identified(code), sort: [], count: 9, total: 'none' });
              const isOld = code === 'a' || code === 'gone';
              expect(
                versions.map(({ id }) => id),
                code,
              ).toEqual(isOld === isThere ? [] : [code === 'moved' ? 'a' : code]);
            }
          }
          // Whoever was killed is in nobody's way.
          const { changes, guards } = largeWrite();
          if (isThere)
            await expect(store.write(changes, guards)).rejects.toMatchObject({ name: 'PreconditionConflict' });
          else expect(await store.write(changes, guards)).toHaveLength(LARGE);
        },
      );
    });
  });
}

interface Said {
  readonly transactions: number;
}

/** @param each writes of each process */
function expectFewTransactions(said: readonly Said[], each: number): void {
  const sum = said.reduce((total, { transactions }) => total + transactions, 0);
  expect(sum).toBeLessThanOrEqual(2 * said.length * each * said.length);
}
