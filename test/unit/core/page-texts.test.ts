import { describe, expect, it } from 'vitest';

import { createPageTexts } from '../../../runtime/core/search-services/page-links/page-texts.js';
import { createToyStore } from '../../toy/store.js';

const key = Buffer.alloc(32, 7);
const HOUR = 3_600_000;

describe('texts of page links that are too long for them', () => {
  it('come back, shorter in the store, and one text is kept once', async () => {
    const { maps } = createToyStore();
    const texts = createPageTexts(maps, () => 0);
    const text = 'identifier=é%20' + 'abc,'.repeat(10_000);
    const id = await texts.keep(key, text, HOUR);
    expect(await texts.find(id)).toBe(text);
    expect(await texts.keep(key, text, HOUR)).toBe(id);
    const { entries } = await maps.scan(undefined, 10);
    expect(entries).toHaveLength(1);
    expect(entries[0]!.value.length).toBeLessThan(text.length / 20);
    expect(await texts.find('none')).toBeUndefined();
  });

  it('are so many in an hour, and then none until the next', async () => {
    let now = 0;
    const texts = createPageTexts(createToyStore().maps, () => now, { bytes: 300, period: HOUR });
    const noise = (seed: number): string =>
      Array.from({ length: 120 }, (_, i) => String.fromCharCode(33 + ((seed * 31 + i * i * 7) % 90))).join('');
    const first = await texts.keep(key, noise(1), HOUR);
    await expect(texts.keep(key, noise(2) + noise(3) + noise(4), HOUR)).rejects.toMatchObject({ code: 'store-busy' });
    // What is there already takes no room.
    expect(await texts.keep(key, noise(1), HOUR)).toBe(first);
    now = HOUR;
    expect(await texts.keep(key, noise(2), 2 * HOUR)).not.toBe(first);
  });
});
