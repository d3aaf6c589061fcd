import { beforeEach, expect, it } from 'vitest';

import { StepConflict, VersionConflict, type AtomicMaps, type Store } from '../../../runtime/store/store.js';
import { put, useStore, type Subject } from '../subject.js';

/** Small atomic maps. */
export function mapBehaviour(on: Subject): void {
  const subject = useStore(on);
  let maps: AtomicMaps;
  beforeEach(() => {
    maps = subject.store.maps;
  });

  it('swap only what is expected', async () => {
    expect(await maps.get('m', 'k')).toBeUndefined();
    expect(await maps.swap('m', 'k', 'x', 'one')).toBe(false);
    expect(await maps.swap('m', 'k', undefined, 'one')).toBe(true);
    expect(await maps.swap('m', 'k', undefined, 'two')).toBe(false);
    expect(await maps.get('m', 'k')).toBe('one');
    expect(await maps.swap('m', 'k', 'one', 'two')).toBe(true);
    expect(await maps.get('n', 'k')).toBeUndefined();
    expect(await maps.entries('m')).toEqual(new Map([['k', 'two']]));
    await maps.delete('m', 'k');
    await maps.delete('m', 'k');
    expect(await maps.get('m', 'k')).toBeUndefined();
  });

  it('of many who swap at once exactly one wins', async () => {
    const won = await Promise.all(Array.from({ length: 50 }, (_, n) => maps.swap('m', 'k', undefined, `${n}`)));
    expect(won.filter(Boolean)).toHaveLength(1);
    expect(await maps.get('m', 'k')).toBe(`${won.indexOf(true)}`);
  });

  it('take several steps together, or none', async () => {
    await maps.swap('m', 'a', undefined, '1');
    await maps.swap('m', 'b', undefined, '1');
    const steps = [
      { map: 'm', key: 'a', expected: '1', value: '2' },
      { map: 'm', key: 'b', expected: '1' },
      { map: 'n', key: 'c', value: '3' },
    ];
    expect(await maps.swapAll([...steps, { map: 'm', key: 'x', expected: 'y', value: 'z' }])).toBe(false);
    expect(await maps.entries('m')).toEqual(new Map([['a', '1'], ['b', '1']])); // prettier-ignore
    expect(await maps.swapAll(steps)).toBe(true);
    expect(await maps.entries('m')).toEqual(new Map([['a', '2']]));
    expect(await maps.get('n', 'c')).toBe('3');
    expect(await maps.swapAll(steps)).toBe(false);
    const won = await Promise.all(
      Array.from({ length: 20 }, (_, n) =>
        maps.swapAll([
          { map: 'm', key: 'a', expected: '2', value: `won ${n}` },
          { map: 'e', key: `${n}`, value: 'x' },
        ]),
      ),
    );
    expect(won.filter(Boolean)).toHaveLength(1);
    expect(await maps.entries('e')).toEqual(new Map([[`${won.indexOf(true)}`, 'x']]));
  });

  it('take steps together with a write, or neither', async () => {
    const { store } = subject;
    const change = (id: string, expected = 0) => put(id, expected, 'x');
    const step = { map: 'm', key: 'k', value: '1' };
    expect(await store.write([change('a')], [], [step])).toHaveLength(1);
    expect(await maps.get('m', 'k')).toBe('1');
    await expect(store.write([change('b')], [], [step])).rejects.toThrow(StepConflict);
    await expect(store.write([change('b')], [], [{ ...step, expected: '2' }])).rejects.toThrow(StepConflict);
    expect(await store.read('Patient', 'b')).toBeUndefined();
    await expect(store.write([change('a')], [], [{ ...step, expected: '1', value: '2' }])).rejects.toThrow(
      VersionConflict,
    );
    expect(await maps.get('m', 'k')).toBe('1');
    const many = Array.from({ length: 300 }, (_, n) => change(`many-${n}`));
    expect(await store.write(many, [], [{ ...step, expected: '1', value: '1' }])).toHaveLength(300);
    expect(await store.write([], [], [{ map: 'm', key: 'k', expected: '1' }])).toEqual([]);
    expect(await maps.get('m', 'k')).toBeUndefined();
    // Of many who note the same thing one writes.
    const done = await Promise.allSettled(Array.from({ length: 10 }, (_, n) => store.write([change(`n-${n}`)], [], [{ ...step, value: `${n}` }]))); // prettier-ignore
    expect(done.filter(({ status }) => status === 'fulfilled')).toHaveLength(1);
    const found = await store.readMany(done.map((_, n) => ({ type: 'Patient', id: `n-${n}` })));
    expect(found.filter((each) => each !== undefined)).toHaveLength(1);
  });

  it('give ranges of keys', async () => {
    for (const key of ['03', '01', '02', '10']) await maps.swap('m', key, undefined, `v${key}`);
    await maps.swap('o', '05', undefined, 'x');
    expect([...(await maps.range('m', '01', 2))]).toEqual([['02', 'v02'], ['03', 'v03']]); // prettier-ignore
    expect([...(await maps.range('m', '03', 5)).keys()]).toEqual(['10']);
    expect((await maps.range('m', '10', 5)).size).toBe(0);
  });

  it('forget what has expired', async () => {
    // Ahead, so that nothing has really expired before it is asked for.
    let time = Date.now() + 3_600_000;
    maps = (await subject.reopen({ now: () => time })).maps;
    await maps.swap('m', 'k', undefined, 'one', time + 1000);
    await maps.swap('m', 'forever', undefined, 'x');
    expect(await maps.get('m', 'k')).toBe('one');
    time += 1000;
    expect(await maps.get('m', 'k')).toBeUndefined();
    expect(await maps.entries('m')).toEqual(new Map([['forever', 'x']]));
    expect(await maps.swap('m', 'k', 'one', 'two')).toBe(false);
    expect(await maps.swap('m', 'k', undefined, 'two')).toBe(true);
    time += 1e9;
    expect(await maps.get('m', 'k')).toBe('two');
  });

  it('serve as leases: one holder, renewed by it alone, taken over when the time has run out', async () => {
    let time = Date.now() + 3_600_000;
    const one = await subject.reopen({ now: () => time });
    // Another process where the store can have any.
    const two = on.isShared ? await subject.reopen({ now: () => time }) : one;
    const take = (who: string, by: Store): Promise<boolean> =>
      by.maps.swap('leases', 'job', undefined, who, time + 1000);
    const taken = await Promise.all([take('one', one), take('two', two)]);
    expect(taken.filter(Boolean)).toHaveLength(1);
    const [holder, rival] = taken[0] ? (['one', 'two'] as const) : (['two', 'one'] as const);
    const [{ maps: its }, others] = taken[0] ? [one, two] : [two, one];
    time += 900;
    expect(await others.maps.swap('leases', 'job', rival, rival, time + 1000)).toBe(false);
    expect(await its.swap('leases', 'job', holder, holder, time + 1000)).toBe(true);
    time += 900;
    expect(await take(rival, others)).toBe(false);
    time += 100;
    expect(await take(rival, others)).toBe(true);
    expect(await its.swap('leases', 'job', holder, holder, time + 1000)).toBe(false);
    expect(await its.get('leases', 'job')).toBe(rival);
  });
}
