import { setTimeout as sleep } from 'node:timers/promises';
import { beforeEach, describe, expect, it } from 'vitest';

import type { Store } from '../../../runtime/store/store.js';
import { startChild } from './children.js';
import { ownStore, put, useStore, type Subject } from '../subject.js';

/** What is left when processes meet and die. */
export interface DurableSubject extends Subject {
  /** Steps of a write at which a process can be killed: before it is durable, and after. */
  readonly steps: {
    readonly before: readonly string[];
    readonly after: readonly string[];
    /** Steps before it is durable that each change of a write passes, and how often that was when it is killed. */
    readonly within?: readonly (readonly [step: string, times: number])[];
    /** Steps before it is durable that each piece of a large write passes, and how often that was. */
    readonly inPieces: readonly (readonly [step: string, times: number])[];
  };
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
      const again = await subject.reopen();
      expect(await again.read('Patient', 'a')).toEqual(two);
      expect(await again.readVersion('Patient', 'a', 1)).toEqual(one);
      expect(await again.maps.get('m', 'k')).toBe('v');
      expect((await again.write([put('a', 2)]))[0]?.version).toBe(3);
    });

    it('two connections see what the other wrote, and refuse what it overtook', async () => {
      const other = await subject.reopen();
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
  });

  // All at once, each with a store of its own: they wait more than they work, on MongoDB for many seconds.
  describe.concurrent(`the store port on ${on.name}, over processes that end`, { timeout: 60_000 }, () => {
    it('a poller who goes on where history was complete sees every version once', async (test) => {
      const subject = await ownStore(on, test);
      const { store } = subject;
      const writers = await Promise.all(['x', 'y'].map((name) => startChild(subject.url, 'load', name, 40)));
      for (const { begin } of writers) begin();
      let isOver = false;
      const over = Promise.all(writers.map(({ ended }) => ended)).then((codes) => {
        isOver = true;
        return codes;
      });
      const seen = new Map<string, number[]>();
      let since = 0;
      let polls = 0;
      let newest = 0;
      // What came last counts when nothing new can appear before it any more, which may be seconds later.
      for (let isLast = false; ; isLast = isOver && since > newest) {
        let after: string | undefined;
        let complete: number;
        do {
          const page = await store.history({ since, count: 50, ...(after === undefined ? {} : { after }) });
          complete = page.complete;
          for (const { id, version, lastUpdated } of page.versions) {
            newest = Math.max(newest, lastUpdated);
            // What is not before it may come again with the next poll.
            if (lastUpdated >= complete) continue;
            const name = `${id} ${version}`;
            seen.set(name, [...(seen.get(name) ?? []), lastUpdated]);
          }
          after = page.next;
        } while (after !== undefined);
        expect(complete).toBeGreaterThanOrEqual(since);
        since = complete;
        polls++;
        if (isLast) break;
        // Where nobody writes, the time of a cluster stands still for seconds.
        if (isOver) await store.maps.swap('m', `${polls}`, undefined, 'x');
        await sleep(isOver ? 100 : 3);
      }
      expect(await over).toEqual([0, 0]);
      expect(polls).toBeGreaterThan(1);
      expect(seen.size).toBe(2 * 8 * 2 * 40);
      // What a database answered after seconds has got a later time, and comes again with that.
      for (const [name, times] of seen) expect(times, name).toEqual([...new Set(times)].sort((a, b) => a - b));
    });

    describe('a process killed in a write', () => {
      const { before, after } = on.steps;
      it.for([...before.map((step) => [step, false] as const), ...after.map((step) => [step, true] as const)])(
        'at "%s": all of it is there: %s',
        async ([step, isThere], test) => {
          const subject = await ownStore(on, test);
          const { store } = subject;
          await store.write([put('a', 0, 'old')]);
          const child = await startChild(subject.url, 'fault', step);
          child.begin();
          expect(await child.ended).toBe('SIGKILL');
          for (const look of [store, await subject.reopen()]) {
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
  });
}
