import { beforeEach, expect, it } from 'vitest';

import type { AtomicMaps } from '../../runtime/store/store.js';
import { useStore, type Subject } from './subject.js';

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

  it('forget what has expired', async () => {
    let time = 1_700_000_000_000;
    maps = subject.reopen({ now: () => time }).maps;
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
}
