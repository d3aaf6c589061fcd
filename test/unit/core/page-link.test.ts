import { describe, expect, it } from 'vitest';

import { createPageLinks, type PageBinding } from '../../../runtime/core/search-services/page-links/page-link.js';
import { createToyStore } from '../../toy/store.js';

const HOUR = 3600_000;
const binding: PageBinding = { interaction: 'history-type', type: 'Basic' };
const state = { query: '_count=2', after: '17.4' };

describe('page links (decisions.md, Search)', () => {
  it('go from one process to another, even when both make the first key', async () => {
    const { maps } = createToyStore();
    const [one, two] = [createPageLinks(maps), createPageLinks(maps)];
    const [fromOne, fromTwo] = await Promise.all([one.seal(binding, state), two.seal(binding, state)]);
    expect(await two.open(binding, fromOne)).toEqual(state);
    expect(await one.open(binding, fromTwo)).toEqual(state);
    expect(fromOne).not.toBe(fromTwo);
    expect((await maps.entries('page-keys')).size).toBe(1);
  });

  it('have a nonce of their own each, also when hundreds are made at once and their queries go to the store', async () => {
    const links = createPageLinks(createToyStore().maps);
    const query = `name=${'a'.repeat(3000)}`;
    const tokens = await Promise.all(Array.from({ length: 600 }, () => links.seal(binding, { query, after: '1' })));
    expect(new Set(tokens.map((token) => Buffer.from(token, 'base64url').toString('hex', 5, 17))).size).toBe(600);
    for (const token of tokens) expect(await links.open(binding, token)).toEqual({ query, after: '1' });
  });

  it('live for 24 hours at least, and no longer than 48', async () => {
    const { maps } = createToyStore();
    let now = Date.UTC(2025, 0, 1, 23, 59);
    const links = createPageLinks(maps, () => now);
    const token = await links.seal(binding, state);
    now += 24 * HOUR;
    expect(await links.open(binding, token)).toEqual(state);
    now += 24 * HOUR;
    await expect(links.open(binding, token)).rejects.toMatchObject({ code: 'page-invalid' });
  });

  it('stay below 4 kB with a query of 2 kB, and show nothing of it', async () => {
    const links = createPageLinks(createToyStore().maps);
    const query = `name=${'secret'.repeat(333)}`;
    const token = await links.seal(binding, { query, after: 'x'.repeat(100) });
    expect(token.length).toBeLessThan(3800);
    expect(Buffer.from(token, 'base64url').toString('latin1')).not.toContain('secret');
  });

  it('stay as short with a longer one, which the store keeps as long as they live, once for all pages', async () => {
    const { maps } = createToyStore();
    let now = Date.UTC(2025, 0, 1, 23, 59);
    const links = createPageLinks(maps, () => now);
    const query = `name=${'secret'.repeat(10_000)}`;
    const tokens = [await links.seal(binding, { query, after: '1' }), await links.seal(binding, { query, after: '2' })];
    expect(Math.max(...tokens.map(({ length }) => length))).toBeLessThan(200);
    now += 24 * HOUR;
    const other = createPageLinks(maps, () => now);
    expect(await Promise.all(tokens.map((token) => other.open(binding, token)))).toEqual([
      { query, after: '1' },
      { query, after: '2' },
    ]);
    const kept = [...(await maps.entries('page-queries')).keys()];
    expect(kept).toHaveLength(1);
    await maps.delete('page-queries', kept[0]!);
    await expect(other.open(binding, tokens[0]!)).rejects.toMatchObject({ code: 'page-invalid' });
  });

  it('have all of a long cursor where the query is short: nothing is written for it', async () => {
    const { maps } = createToyStore();
    const links = createPageLinks(maps);
    const after = 'x'.repeat(2400);
    const token = await links.seal(binding, { query: '_count=2', after });
    expect(token.length).toBeLessThan(3800);
    expect(await links.open(binding, token)).toEqual({ query: '_count=2', after });
    expect((await maps.entries('page-queries')).size).toBe(0);
    const longer = { query: '_count=2', after: 'x'.repeat(2560) };
    expect(await links.open(binding, await links.seal(binding, longer))).toEqual(longer);
    expect((await maps.entries('page-queries')).size).toBe(1);
  });

  it('are refused when any one letter is changed', async () => {
    const links = createPageLinks(createToyStore().maps);
    const token = await links.seal(binding, state);
    for (let i = 0; i < token.length; i++) {
      const forged = token.slice(0, i) + (token[i] === 'A' ? 'B' : 'A') + token.slice(i + 1);
      await expect(links.open(binding, forged)).rejects.toMatchObject({ code: 'page-invalid' });
    }
    await expect(links.open({ ...binding, id: 'a' }, token)).rejects.toMatchObject({ code: 'page-invalid' });
  });
});
