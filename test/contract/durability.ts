import { setTimeout as sleep } from 'node:timers/promises';
import { beforeEach, describe, expect, it } from 'vitest';

import type { Store } from '../../runtime/store/store.js';
import { startChild } from './children.js';
import { put, useStore, type Subject } from './subject.js';

/** What is left when processes meet and die. */
export interface DurableSubject extends Subject {
  /** Steps of a write at which a process can be killed: before it is durable, and after. */
  readonly steps: { readonly before: readonly string[]; readonly after: readonly string[] };
}

/** What every store must do that outlives its process. */
export function durability(on: DurableSubject): void {
  describe(`the store port on ${on.name}, over processes`, () => {
    const subject = useStore(on);
    let store: Store;
    beforeEach(() => {
      store = subject.store;
    });

    it('finds everything again after it was closed', async () => {
      const [one] = await store.write([put('a', 0, 'one')]);
      const [two] = await store.write([put('a', 1, 'two')]);
      await store.maps.swap('m', 'k', undefined, 'v');
      await subject.close(store);
      const again = subject.reopen();
      expect(await again.read('Patient', 'a')).toEqual(two);
      expect(await again.readVersion('Patient', 'a', 1)).toEqual(one);
      expect(await again.maps.get('m', 'k')).toBe('v');
      expect((await again.write([put('a', 2)]))[0]?.version).toBe(3);
    });

    it('time never goes back, though another process has an older clock', async () => {
      const [first] = await store.write([put('a', 0)]);
      const late = subject.reopen({ now: () => 1_000_000 });
      const [second] = await late.write([put('b', 0)]);
      expect(second?.lastUpdated).toBeGreaterThan(first?.lastUpdated ?? Infinity);
    });

    it('two connections see what the other wrote, and refuse what it overtook', async () => {
      const other = subject.reopen();
      await store.write([put('a', 0, 'mine')]);
      expect((await other.read('Patient', 'a'))?.json).toContain('mine');
      await other.write([put('a', 1, 'theirs')]);
      await expect(store.write([put('a', 1, 'late')])).rejects.toMatchObject({ name: 'VersionConflict', actual: 2 });
      // Types and parameters that the other brought along are known here too.
      const entries = [{ kind: 'token' as const, param: 'code', system: 'urn:other', code: 'x' }];
      await other.write([put('x', 0, 'x', entries, 'Basic')]);
      await store.write([put('y', 0, 'y', entries, 'Basic')]);
      expect(await store.counts()).toEqual(new Map(Object.entries({ Basic: 2, Patient: 1 })));
    });

    it('processes lose no version of one resource', { timeout: 60_000 }, async () => {
      const racers = await Promise.all(['0', '1', '2'].map((name) => startChild(subject.url, 'race', name, 40)));
      for (const { begin } of racers) begin();
      for (const { ended } of racers) expect(await ended).toBe(0);
      // Otherwise they never met, and this test showed nothing.
      expect(racers.some(({ said: [result] }) => (result as { lost: number }).lost > 0)).toBe(true);
      const { versions, total } = await store.history({ type: 'Patient', id: 'shared', count: 200 });
      expect(total).toBe(120);
      expect(versions.map(({ version }) => version)).toEqual(Array.from({ length: 120 }, (_, i) => 120 - i));
      expect(new Set(versions.map(({ json }) => JSON.parse(json ?? '').text)).size).toBe(120);
      for (const [i, { lastUpdated }] of versions.entries()) {
        if (i > 0) expect(lastUpdated).toBeLessThan(versions[i - 1]!.lastUpdated);
      }
    });

    it('a poller who goes on where history was complete sees every version once', { timeout: 60_000 }, async () => {
      const writers = await Promise.all(['x', 'y'].map((name) => startChild(subject.url, 'load', name, 40)));
      for (const { begin } of writers) begin();
      let isOver = false;
      const over = Promise.all(writers.map(({ ended }) => ended)).then((codes) => {
        isOver = true;
        return codes;
      });
      const seen = new Map<string, number>();
      let since = 0;
      let polls = 0;
      for (let isLast = false; ; isLast = isOver) {
        let after: string | undefined;
        let complete: number;
        do {
          const page = await store.history({ since, count: 50, ...(after === undefined ? {} : { after }) });
          complete = page.complete;
          for (const { id, version, lastUpdated } of page.versions) {
            // What is not before it may come again with the next poll.
            if (lastUpdated >= complete) continue;
            seen.set(`${id} ${version}`, (seen.get(`${id} ${version}`) ?? 0) + 1);
          }
          after = page.next;
        } while (after !== undefined);
        expect(complete).toBeGreaterThanOrEqual(since);
        since = complete;
        polls++;
        if (isLast) break;
        await sleep(3);
      }
      expect(await over).toEqual([0, 0]);
      expect(polls).toBeGreaterThan(5);
      expect(seen.size).toBe(2 * 8 * 2 * 40);
      expect([...seen.values()].every((times) => times === 1)).toBe(true);
    });

    describe('a process killed in a write', () => {
      const { before, after } = on.steps;
      it.each([...before.map((step) => [step, false] as const), ...after.map((step) => [step, true] as const)])(
        'at "%s": all of it is there: %s',
        async (step, isThere) => {
          await store.write([put('a', 0, 'old')]);
          const child = await startChild(subject.url, 'fault', step);
          child.begin();
          expect(await child.ended).toBe('SIGKILL');
          for (const look of [store, subject.reopen()]) {
            const ids = (await look.history({ count: 9 })).versions.map(({ id, version }) => id + version);
            expect(ids).toEqual(isThere ? ['b1', 'a2', 'a1'] : ['a1']);
            expect((await look.read('Patient', 'a'))?.json).toContain(isThere ? 'new' : 'old');
            expect(await look.counts()).toEqual(new Map([['Patient', isThere ? 2 : 1]]));
            expect(await look.blobs.get('blob')).toBeUndefined();
          }
          expect(await store.write([put('c', 0), put('a', isThere ? 2 : 1)])).toHaveLength(2);
        },
      );
    });

    it('a backup is whole, of one instant, and overwrites nothing', async () => {
      for (let n = 0; n < 20; n++) await store.write([put(`p${n}`, 0, 'x'.repeat(1000)), put(`q${n}`, 0)]);
      await store.blobs.put('k', (async function* () { yield new Uint8Array(300_000).fill(7); })(), 1e9); // prettier-ignore
      const file = `${subject.place}/backup`;
      const [, ...late] = await Promise.all([
        store.backup(file),
        ...Array.from({ length: 20 }, (_, n) => store.write([put(`late${n}`, 0), put(`later${n}`, 0)])),
      ]);
      expect(late).toHaveLength(20);
      await expect(store.backup(file)).rejects.toThrow(/overwrites nothing/);
      if (on.restore === undefined) return;
      const restored = subject.adopt(on.restore(file));
      const counted = (await restored.counts()).get('Patient') ?? 0;
      expect(counted).toBeGreaterThanOrEqual(40);
      expect(counted % 2).toBe(0);
      expect((await restored.history({ count: 0 })).total).toBe(counted);
      expect(await restored.read('Patient', 'p7')).toEqual(await store.read('Patient', 'p7'));
      expect((await restored.blobs.get('k'))?.size).toBe(300_000);
      expect((await restored.write([put('p7', 1)]))[0]?.version).toBe(2);
    });
  });
}
