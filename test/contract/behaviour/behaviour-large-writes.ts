import { expect, it } from 'vitest';

import {
  PreconditionConflict,
  VersionConflict,
  type Change,
  type Precondition,
  type Put,
} from '../../../runtime/store/store.js';
import { token } from '../search/behaviour-search-helpers.js';
import { deletion, put, useStore, type Subject } from '../subject.js';

/** More than goes to any store at once. */
const MANY = 1200;

const ids = Array.from({ length: MANY }, (_, n) => `n${String(n).padStart(4, '0')}`);

/** A resource that is found by its own id, and by what it has in common with each tenth. */
function one(n: number, expected = 0, text = 'first'): Put {
  const id = ids[n]!;
  const entries = [
    { ...token(id, 'urn:s'), param: 'identifier' },
    { ...token(String(n % 10), 'urn:tens'), param: 'tag' },
  ];
  return put(id, expected, `${text} ${id}`, entries);
}

/** That this identifier finds these. */
function guard(code: string, found: readonly string[]): Precondition {
  return { type: 'Patient', where: { param: 'identifier', any: [{ is: 'token', system: 'urn:s', code }] }, found };
}

const TIMEOUT = { timeout: 120_000 };

/** Writes of thousands of changes, which stores take in pieces. */
export function largeWriteBehaviour(on: Subject): void {
  const subject = useStore(on);

  const found = async (code: string): Promise<string[]> => {
    const { versions } = await subject.store.find({ ...guard(code, []), sort: [], count: 20, total: 'none' });
    return versions.map(({ id }) => id);
  };

  it('creates, replaces and deletes many as it does one', TIMEOUT, async () => {
    const { store } = subject;
    const created = await store.write(ids.map((_, n) => one(n)));
    expect(created.map(({ id, version }) => `${id} ${version}`)).toEqual(ids.map((id) => `${id} 1`));
    const changes: Change[] = ids.map((id, n) => (n % 3 === 0 ? deletion(id, 1) : one(n, 1, 'second')));
    const changed = await store.write(changes);
    expect(await store.readMany(ids.map((id) => ({ type: 'Patient', id })))).toEqual(changed);
    expect(changed.every(({ version }) => version === 2)).toBe(true);
    expect(changed[0]?.json).toBeUndefined();
    expect(JSON.parse(changed[1]?.json ?? '')).toMatchObject({ meta: { versionId: '2' }, text: 'second n0001' });
    expect(await store.counts()).toEqual(new Map([['Patient', MANY - MANY / 3]]));
    expect([await found('n0000'), await found('n0001'), await found('n1199')]).toEqual([[], ['n0001'], ['n1199']]);
    for (const n of [0, 1, 600, 1199]) expect(await store.readVersion('Patient', ids[n]!, 1)).toEqual(created[n]);
    const { versions, total } = await store.history({ count: 1000 });
    expect(total).toBe(2 * MANY);
    // Newest first: the order of the changes turned round.
    expect(versions.map(({ id }) => id)).toEqual([...ids].reverse().slice(0, 1000));
  });

  it('changes one resource several times, far apart', TIMEOUT, async () => {
    const { store } = subject;
    const [before] = await store.write([put('a', 0, 'zero')]);
    const between = ids.map((_, n) => one(n));
    const changes = [
      put('a', 1, 'one'),
      ...between.slice(0, 500),
      deletion('a', 2),
      ...between.slice(500),
      put('a', 3, 'two'),
    ];
    const written = await store.write(changes);
    const of = written.filter(({ id }) => id === 'a');
    expect(of.map(({ version }) => version)).toEqual([2, 3, 4]);
    const { versions } = await store.history({ type: 'Patient', id: 'a', count: 9 });
    expect(versions).toEqual([...of].reverse().concat(before!));
    expect(await store.read('Patient', 'a')).toEqual(of[2]);
    expect(await store.readVersion('Patient', 'a', 2)).toEqual(of[0]);
  });

  it('replaces those of many entries and those of few in one write', TIMEOUT, async () => {
    const { store } = subject;
    const sized = (id: string, expected: number, text: string, count: number): Put => {
      const codes = Array.from({ length: count }, (_, n) => token(`${id}-${text}-${n}`, 'urn:s'));
      return put(
        id,
        expected,
        text,
        codes.map((code) => ({ ...code, param: 'identifier' })),
      );
    };
    const all = (expected: number, text: string): Put[] => [
      sized('few', expected, text, 1),
      sized('many', expected, text, 1000),
      sized('also', expected, text, 2),
    ];
    const before = await store.write(all(0, 'old'));
    const after = await store.write(all(1, 'new'));
    expect(after.map(({ version }) => version)).toEqual([2, 2, 2]);
    for (const [i, [id, last]] of [
      ['few', 0],
      ['many', 999],
      ['also', 1],
    ].entries()) {
      expect(await found(`${id}-old-${last}`)).toEqual([]);
      expect(await found(`${id}-new-${last}`)).toEqual([id]);
      expect(await store.readVersion('Patient', String(id), 1)).toEqual(before[i]);
      expect(await store.read('Patient', String(id))).toEqual(after[i]);
    }
    const grown = [sized('few', 2, 'grown', 1000), sized('many', 2, 'grown', 1), deletion('also', 2)];
    expect((await store.write(grown)).map(({ version }) => version)).toEqual([3, 3, 3]);
    expect([await found('few-grown-999'), await found('many-new-0'), await found('also-new-0')]).toEqual([
      ['few'],
      [],
      [],
    ]);
    expect(await store.counts()).toEqual(new Map([['Patient', 2]]));
  });

  it('nothing is written where the last of many changes expects another version', TIMEOUT, async () => {
    const { store } = subject;
    await store.write([put('a', 0, 'old'), put('b', 0, 'old')]);
    const changes = [put('b', 1, 'new'), ...ids.map((_, n) => one(n)), put('a', 3)];
    const refused = await store.write(changes).catch((error: unknown) => error);
    expect(refused).toBeInstanceOf(VersionConflict);
    expect(refused).toMatchObject({ id: 'a', expected: 3, actual: 1 });
    await expectOld();
    // The same, to be created where it is.
    const again = await store.write([...ids.map((_, n) => one(n)), put('a', 0)]).catch((error: unknown) => error);
    expect(again).toBeInstanceOf(VersionConflict);
    await expectOld();
    expect(await store.write(changes.with(-1, put('a', 1)))).toHaveLength(MANY + 2);
  });

  it('nothing is written where the last of many guards does not hold', TIMEOUT, async () => {
    const { store } = subject;
    await store.write([put('a', 0, 'old'), put('b', 0, 'old')]);
    const guards = ids.map((id) => guard(id, []));
    const broken = guard('nobody', ['b']);
    const changes = [put('b', 1, 'new'), ...ids.map((_, n) => one(n))];
    const refused = await store.write(changes, [...guards, broken]).catch((error: unknown) => error);
    expect(refused).toBeInstanceOf(PreconditionConflict);
    expect((refused as PreconditionConflict).precondition).toBe(broken);
    await expectOld();
    expect(await store.write(changes, guards)).toHaveLength(MANY + 1);
    // Few changes, but many guards.
    const late = await store.write([put('a', 1)], guards).catch((error: unknown) => error);
    expect((late as PreconditionConflict).precondition).toBe(guards[0]);
  });

  it('two at once, and small ones beside them: each whole, and none waits in vain', TIMEOUT, async () => {
    const { store } = subject;
    const half = MANY / 2;
    const all = await Promise.all([
      store.write(ids.slice(0, half).map((_, n) => one(n))),
      store.write(ids.slice(half).map((_, n) => one(half + n))),
      ...Array.from({ length: 20 }, (_, n) => store.write([put(`small${n}`, 0), put(`small${n}-too`, 0)])),
    ]);
    expect(all.map(({ length }) => length)).toEqual([half, half, ...Array.from({ length: 20 }, () => 2)]);
    expect(await store.counts()).toEqual(new Map([['Patient', MANY + 40]]));
    // Of two that cross one is written, and the other not at all.
    const crossing = await Promise.allSettled([
      store.write(ids.map((_, n) => one(n, 1, 'left'))),
      store.write(ids.map((_, n) => one(n, 1, 'right')).reverse()),
    ]);
    expect(crossing.map(({ status }) => status).sort()).toEqual(['fulfilled', 'rejected']);
    const winner = crossing[0]?.status === 'fulfilled' ? 'left' : 'right';
    const now = await store.readMany(ids.map((id) => ({ type: 'Patient', id })));
    expect(now.every((each) => each?.version === 2 && each.json?.includes(`"${winner} `) === true)).toBe(true);
  });

  it('closes when what is on its way is written', TIMEOUT, async () => {
    if (!on.isShared) return;
    const other = await subject.reopen();
    const written = other.write(ids.map((_, n) => one(n)));
    // It may take the time of a turn until the first piece is sent.
    await Promise.resolve();
    await Promise.allSettled([subject.close(other), written]);
    const { total } = await subject.store.history({ count: 0 });
    expect([0, MANY]).toContain(total);
    if ((await Promise.allSettled([written]))[0].status === 'fulfilled') expect(total).toBe(MANY);
  });

  async function expectOld(): Promise<void> {
    const { store } = subject;
    expect((await store.history({ count: 0 })).total).toBe(2);
    expect(await store.read('Patient', 'b')).toMatchObject({ version: 1 });
    expect([await found('n0000'), await found('n1199')]).toEqual([[], []]);
  }
}
