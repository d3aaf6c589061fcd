import { expect, it, vi } from 'vitest';

import type { Store } from '../../../runtime/store/store.js';
import type { LoggedVersion } from '../../../runtime/store/version-log.js';
import { EVENTUALLY } from '../../eventually.js';
import { deletion, put, useStore, type Subject } from '../subject.js';

/** All versions after a number, read in small pages. */
async function readAll({ log }: Store, from: number): Promise<LoggedVersion[]> {
  const all: LoggedVersion[] = [];
  for (;;) {
    const page = await log.read(all.at(-1)?.seq ?? from, 7);
    if (page === undefined) throw new Error('the log does not go back so far');
    if (page.length === 0) return all;
    all.push(...page);
  }
}

/** The same once there are so many. */
async function readUntil(store: Store, from: number, count: number): Promise<LoggedVersion[]> {
  return vi.waitFor(async () => {
    const all = await readAll(store, from);
    expect(all.length).toBeGreaterThanOrEqual(count);
    return all;
  }, EVENTUALLY);
}

const told = ({ type, id, version, interaction }: LoggedVersion): string => `${interaction} ${type}/${id}/${version}`;

/** Versions in the order of commits. */
export function logBehaviour(on: Subject): void {
  const subject = useStore(on);

  it('holds each version once, in the order of commits, with what made it', async () => {
    const { store } = subject;
    const from = await store.log.end();
    await store.write([put('a', 0)]);
    await store.write([put('a', 1)]);
    await store.write([deletion('a', 2)]);
    await store.write([put('a', 3), put('b', 0), put('a', 4, 'y')]);
    const all = await readUntil(store, from, 6);
    expect(all.map(told)).toEqual([
      'create Patient/a/1',
      'update Patient/a/2',
      'delete Patient/a/3',
      ...['create Patient/a/4', 'create Patient/b/1', 'update Patient/a/5'].filter((each) => all.map(told).indexOf(each) === 3), // prettier-ignore
      ...all.slice(4).map(told),
    ]);
    expect(all.slice(3).map(told).sort()).toEqual(['create Patient/a/4', 'create Patient/b/1', 'update Patient/a/5']);
    expect(all.map(({ seq }) => seq)).toEqual(all.map((_each, i) => all[0]!.seq + i));
    const current = await store.readVersion('Patient', 'a', 2);
    expect(all[1]!.updated).toBe(current!.lastUpdated);
  });

  it('has nothing of what makes no version', async () => {
    const { store } = subject;
    const from = await store.log.end();
    const [written] = await store.write([put('a', 0)]);
    await readUntil(store, from, 1);
    const { entries, body, content } = put('a', 0, 'amended');
    await store.reindex([{ type: 'Patient', id: 'a', version: 1, entries }]);
    await store.amend({ type: 'Patient', id: 'a', version: 1, before: written!.json!, body, content, entries });
    await expect(store.write([put('b', 0), put('a', 7)])).rejects.toThrow('version');
    await store.write([put('c', 0)]);
    const all = await readUntil(store, from, 2);
    expect(all.map(told)).toEqual(['create Patient/a/1', 'create Patient/c/1']);
  });

  it('of many writers misses nothing: a cursor never passes what commits later', async () => {
    const { store } = subject;
    const other = on.isShared ? await subject.reopen() : store;
    const from = await store.log.end();
    const seen: LoggedVersion[] = [];
    let isWriting = true;
    const reading = (async () => {
      for (;;) {
        const isLast = !isWriting;
        const page = await store.log.read(seen.at(-1)?.seq ?? from, 11);
        seen.push(...page!);
        if (seen.length >= 150 || (isLast && page!.length === 0 && seen.length >= 150)) return;
        await new Promise((resolve) => setTimeout(resolve, 2));
      }
    })();
    await Promise.all(
      Array.from({ length: 10 }, async (_, n) => {
        const writer = n % 2 === 0 ? store : other;
        for (let i = 0; i < 5; i++) await writer.write([put(`w${n}`, i)]);
        await writer.write(Array.from({ length: 10 }, (__, i) => put(`w${n}-${i}`, 0)));
      }),
    );
    isWriting = false;
    await reading;
    expect(new Set(seen.map(told)).size).toBe(150);
    expect(seen.map(({ seq }) => seq)).toEqual([...seen.map(({ seq }) => seq)].sort((a, b) => a - b));
    for (let n = 0; n < 10; n++) {
      const own = seen.filter(({ id }) => id === `w${n}`).map(({ version }) => version);
      expect(own).toEqual([1, 2, 3, 4, 5]);
    }
    expect((await readAll(other, from)).map(told)).toEqual(seen.map(told));
  });

  it('tells those that watch', async () => {
    const { store } = subject;
    const other = on.isShared ? await subject.reopen() : store;
    await Promise.all([store.log.end(), other.log.end()]);
    let [here, there] = [0, 0];
    store.log.watch(() => here++);
    const stop = other.log.watch(() => there++);
    await vi.waitFor(async () => {
      const [a, b] = [here, there];
      await store.write([put(`x${Math.random()}`, 0)]);
      await new Promise((resolve) => setTimeout(resolve, 300));
      expect(here).toBeGreaterThan(a);
      expect(there).toBeGreaterThan(b);
    }, EVENTUALLY);
    stop();
  });

  it('forgets what is expunged', async () => {
    const { store } = subject;
    const from = await store.log.end();
    await store.write([put('a', 0), put('b', 0)]);
    await readUntil(store, from, 2);
    await store.expunge({ type: 'Patient', id: 'a', current: true, previous: true, limit: 10 });
    expect((await readAll(store, from)).map(told)).toEqual(['create Patient/b/1']);
    await store.write([put('a', 0)]);
    const all = await readUntil(store, from, 2);
    expect(all.map(told)).toEqual(['create Patient/b/1', 'create Patient/a/1']);
  });

  it('knows places by time, and refuses numbers that it never gave', async () => {
    const { store } = subject;
    const from = await store.log.end();
    const [first] = await store.write([put('a', 0)]);
    await readUntil(store, from, 1);
    const place = await store.log.placeAt(first!.lastUpdated + 5001);
    if (place !== undefined) expect(place).toBeGreaterThanOrEqual(from);
    expect(await store.log.read(from + 1000, 10)).toBeUndefined();
  });
}
