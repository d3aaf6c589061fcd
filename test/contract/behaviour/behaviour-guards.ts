import { describe, expect, it } from 'vitest';

import { commit, type Decision } from '../../../runtime/core/write/commit.js';
import type { IndexEntry } from '../../../runtime/indexing/entry.js';
import type { Condition } from '../../../runtime/search/query/query.js';
import { PreconditionConflict, VersionConflict, type Precondition, type Put } from '../../../runtime/store/store.js';
import { sharedStore, token } from '../search/behaviour-search-helpers.js';
import { SEARCH_CASES } from '../search/behaviour-search-cases.js';
import { deletion, put, useStore, type Subject } from '../subject.js';

const NONE: readonly string[] = [];

/** A guard: those who have this identifier are these. */
function guard(code: string, found = NONE, type = 'Patient'): Precondition {
  return { type, where: { param: 'identifier', any: [{ is: 'token', system: 'urn:s', code }] }, found };
}

/** A new resource with this identifier. */
function holder(id: string, code: string, expected = 0, type = 'Patient'): Put {
  const entries: IndexEntry[] = [{ ...token(code, 'urn:s'), param: 'identifier' } as IndexEntry];
  return put(id, expected, code, entries, type);
}

/** Writes that hold only where a search finds what it found before. */
export function guardBehaviour(on: Subject): void {
  const subject = useStore(on);

  it('writes where a search finds what its guard says, and not where it finds something else', async () => {
    const { store } = subject;
    expect(await store.write([holder('a', '1')], [guard('1')])).toMatchObject([{ id: 'a', version: 1 }]);
    const asked = guard('1');
    const refused = await store.write([holder('b', '1')], [asked]).catch((error: unknown) => error);
    expect(refused).toBeInstanceOf(PreconditionConflict);
    expect((refused as PreconditionConflict).precondition).toBe(asked);
    await store.write([holder('b', '1')], [guard('1', ['a'])]);
    await store.write([holder('c', '1')], [guard('1', ['b', 'a'])]);
    await expect(store.write([holder('d', '1')], [guard('1', ['b', 'a'])])).rejects.toBeInstanceOf(
      PreconditionConflict,
    );
    await expect(store.write([holder('d', '1')], [guard('1', ['b', 'a', 'x'])])).rejects.toBeInstanceOf(
      PreconditionConflict,
    );
    await expect(store.write([holder('d', '1')], [guard('1', ['b', 'a', 'c', 'x'])])).rejects.toBeInstanceOf(
      PreconditionConflict,
    );
    await store.write([holder('d', '1')], [guard('1', ['c', 'b', 'a'])]);
    expect(await store.read('Patient', 'd')).toMatchObject({ version: 1 });
  });

  it('sees earlier updates and deletions', async () => {
    const { store } = subject;
    await store.write([holder('a', '1')]);
    await store.write([holder('a', '2', 1)], [guard('1', ['a'])]);
    await expect(store.write([holder('a', '3', 2)], [guard('1', ['a'])])).rejects.toBeInstanceOf(PreconditionConflict);
    await store.write([holder('b', '1')], [guard('1'), guard('2', ['a'])]);
    await store.write([deletion('b', 1)], [guard('1', ['b'])]);
    await expect(store.write([deletion('a', 2)], [guard('1', ['b'])])).rejects.toBeInstanceOf(PreconditionConflict);
    await store.write([deletion('a', 2)], [guard('1'), { type: 'Patient', where: { ids: ['a', 'b'] }, found: ['a'] }]);
    expect((await store.history({ count: 0 })).total).toBe(5);
  });

  it('nothing is written where a guard does not hold: no version, no entries, no gap', async () => {
    const { store } = subject;
    await store.write([holder('a', '1'), holder('x', '9')]);
    const before = await store.history({ count: 9 });
    const changes = [holder('new', '5'), holder('a', '6', 1), deletion('x', 1), holder('other', '5', 0, 'Basic')];
    for (const guards of [[guard('1')], [guard('5'), guard('7', ['a'])], [guard('1', ['a']), guard('9', ['a'])]]) {
      await expect(store.write(changes, guards)).rejects.toBeInstanceOf(PreconditionConflict);
    }
    const after = await store.history({ count: 9 });
    expect(after.versions).toEqual(before.versions);
    expect(await store.counts()).toEqual(new Map([['Patient', 2]]));
    for (const [code, found] of [
      ['1', ['a']],
      ['5', []],
      ['6', []],
      ['9', ['x']],
    ] as const) {
      const { versions } = await store.find({ ...guard(code), sort: [], count: 9, total: 'none' });
      expect(versions.map(({ id }) => id)).toEqual(found);
    }
    expect((await store.write(changes, [guard('1', ['a']), guard('5')])).map(({ version }) => version)).toEqual([
      1, 2, 2, 1,
    ]);
  });

  it('guards see what was there before the changes of their own write', async () => {
    const { store } = subject;
    await store.write([holder('a', '1'), holder('b', '1')], [guard('1'), guard('2')]);
    await store.write([deletion('a', 1), holder('c', '1')], [guard('1', ['a', 'b'])]);
    await store.write([holder('c', '1', 1)], [guard('1', ['c', 'b'])]);
  });

  it('guards of a type, a parameter and a system that nobody wrote yet', async () => {
    const { store } = subject;
    const never: Condition = { all: [{ param: 'never', any: [{ is: 'token', code: 'x' }] }] };
    await store.write([holder('a', '1')], [{ type: 'Observation', where: never, found: [] }]);
    await store.write([holder('b', '1')], [{ type: 'Patient', where: never, found: [] }, guard('2')]);
    await store.write([holder('c', '1', 0, 'Observation')], [guard('1', [], 'Observation')]);
    await expect(store.write([put('d', 0)], [guard('1', [], 'Observation')])).rejects.toBeInstanceOf(
      PreconditionConflict,
    );
    const other = { ...guard('1', ['x'], 'Device') };
    await expect(store.write([put('d', 0)], [other])).rejects.toBeInstanceOf(PreconditionConflict);
  });

  it('a write without changes asks its guards all the same', async () => {
    const { store } = subject;
    expect(await store.write([], [guard('1')])).toEqual([]);
    await store.write([holder('a', '1')]);
    await expect(store.write([], [guard('1')])).rejects.toBeInstanceOf(PreconditionConflict);
    expect((await store.history({ count: 0 })).total).toBe(1);
  });

  it('versions are expected beside guards', async () => {
    const { store } = subject;
    await store.write([holder('a', '1')]);
    await expect(store.write([holder('a', '1')], [guard('1', ['a'])])).rejects.toBeInstanceOf(VersionConflict);
    await expect(store.write([holder('b', '2'), holder('a', '1', 2)], [guard('2')])).rejects.toBeInstanceOf(
      VersionConflict,
    );
    expect(await store.read('Patient', 'b')).toBeUndefined();
  });

  it('hundreds of guards of one write: all are asked, and the one that does not hold is told', async () => {
    const { store } = subject;
    await store.write([holder('a', '700'), holder('b', '700')]);
    const holding = Array.from({ length: 700 }, (_, n) => guard(`${n}`));
    const known = guard('700', ['b', 'a']);
    const changes = holding.map((_, n) => holder(`n${n}`, `${n}`));
    for (const place of [0, 350, 699]) {
      const broken = guard('700');
      const guards = holding.with(place, broken);
      const refused = await store.write(changes, [...guards, known]).catch((error: unknown) => error);
      expect((refused as PreconditionConflict).precondition).toBe(broken);
    }
    expect(await store.write(changes, [...holding, known])).toHaveLength(700);
    const refused = await store.write([put('z', 0)], holding).catch((error: unknown) => error);
    expect((refused as PreconditionConflict).precondition).toBe(holding[0]);
  });

  it('many guards of one write that each find something: each has to find its own', async () => {
    const { store } = subject;
    const codes = Array.from({ length: 60 }, (_, n) => `${n}`);
    await store.write([...codes.map((code) => holder(`r${code}`, code)), holder('twin', '7')]);
    const guards = codes.map((code) => guard(code, code === '7' ? ['twin', 'r7'] : [`r${code}`]));
    await store.write([put('log', 0)], [...guards, guard('none')]);
    // What all of them find together stays the same when two change places.
    await store.write([holder('r3', '4', 1), holder('r4', '3', 1)]);
    const refused = await store.write([put('log', 1)], guards).catch((error: unknown) => error);
    expect((refused as PreconditionConflict).precondition).toBe(guards[3]);
    await store.write([holder('r3', '3', 2), holder('r4', '4', 2)]);
    await store.write([put('log', 1)], guards);
    // And when one finds what another finds too.
    const entries = ['3', '4'].map((code) => ({ ...token(code, 'urn:s'), param: 'identifier' }) as IndexEntry);
    await store.write([put('r3', 3, 'both', entries)]);
    const again = await store.write([put('log', 2)], guards).catch((error: unknown) => error);
    expect((again as PreconditionConflict).precondition).toBe(guards[4]);
    const any = {
      type: 'Patient',
      where: { param: 'identifier', any: [{ is: 'token', system: 'urn:s' }] },
      found: [],
    } as const;
    const all = [...codes.map((code) => `r${code}`), 'twin'];
    await store.write([put('log', 2)], [{ ...any, found: all }, guard('5', ['r5'])]);
    await expect(store.write([put('log', 3)], [guard('5', ['r5']), any])).rejects.toBeInstanceOf(PreconditionConflict);
  });

  it('of many who expect to find nothing one writes, also those beside others in one group', async () => {
    const { store } = subject;
    const all = await Promise.allSettled(
      Array.from({ length: 60 }, (_, n) =>
        n % 3 === 0
          ? store.write([put(`free${n}`, 0), put(`free${n}-too`, 0)])
          : store.write([holder(`a${n}`, 'shared'), put(`b${n}`, 0)], [guard('shared')]),
      ),
    );
    const won = all.flatMap(({ status }, n) => (n % 3 > 0 && status === 'fulfilled' ? [n] : []));
    expect(won).toHaveLength(1);
    expect(all.filter(({ status }, n) => n % 3 === 0 && status === 'fulfilled')).toHaveLength(20);
    for (const [n, result] of all.entries()) {
      if (result.status === 'rejected') expect(result.reason).toBeInstanceOf(PreconditionConflict);
      const isThere = (await store.read('Patient', `b${n}`)) !== undefined;
      expect(isThere).toBe(n === won[0]);
    }
    expect((await store.history({ count: 0 })).total).toBe(42);
  });

  it('200 conditional creations of one criterion at once make one resource', async () => {
    const { store } = subject;
    async function create(n: number): Promise<Decision<string>> {
      const { versions } = await store.find({ ...guard('one'), sort: [], count: 2, total: 'none' });
      const [found] = versions;
      if (found !== undefined) return { changes: [], result: found.id };
      return { changes: [holder(`n${n}`, 'one')], preconditions: [guard('one')], result: `n${n}` };
    }
    // Some take turns, as requests with the same criterion do, and all others meet in the store.
    const done = await Promise.all(
      Array.from({ length: 200 }, (_, n) =>
        commit(store, n % 4 === 0 ? [`Patient?${n}`] : ['Patient?one'], () => create(n)),
      ),
    );
    const { versions, total } = await store.history({ count: 1 });
    expect(total).toBe(1);
    expect(new Set(done.map(({ result }) => result))).toEqual(new Set([versions[0]!.id]));
  });

  it('crossing writes never half apply', async () => {
    const { store } = subject;
    for (let round = 0; round < 10; round++) {
      const [x, y] = [`x${round}`, `y${round}`];
      const all = await Promise.allSettled([
        store.write([holder(x, x), holder(`${x}-twin`, 'twin')], [guard(y), guard(x)]),
        store.write([holder(y, y), holder(`${y}-twin`, 'twin')], [guard(x), guard(y)]),
      ]);
      // Each forbids the other, in whatever order they come.
      expect(all.filter(({ status }) => status === 'fulfilled')).toHaveLength(1);
      for (const [i, id] of [x, y].entries()) {
        const isThere = all[i]?.status === 'fulfilled';
        const versions = await store.readMany([id, `${id}-twin`].map((each) => ({ type: 'Patient', id: each })));
        expect(versions.map((version) => version !== undefined)).toEqual([isThere, isThere]);
      }
    }
  });

  describe('guards of every kind of condition', () => {
    const shared = sharedStore(on);

    it.each(SEARCH_CASES.map((each, n) => [each.name, each, `Guarded${n}`] as const))(
      '%s',
      async (_name, { resources, findings }, type) => {
        const { store } = shared;
        const made = Object.entries(resources).map(([id, entries]) => put(id, 0, id, entries, type));
        await store.write(made);
        const guards = findings.map(([, where, ids]) => ({ type, where, found: [...ids].reverse() }));
        const change = (expected: number): Put => put('log', expected, 'x', [], `Log${type}`);
        expect(await store.write([change(0)], guards)).toHaveLength(1);
        for (const [n, right] of guards.entries()) {
          const [, ...others] = right.found;
          const wrong = right.found.length === 0 ? [['none']] : [others, [...others, 'none']];
          for (const found of wrong) {
            const refused = store.write([change(1)], [{ ...right, found }]);
            await expect(refused, findings[n]![0]).rejects.toBeInstanceOf(PreconditionConflict);
          }
        }
      },
    );
  });
}
