import { describe, expect, it } from 'vitest';

import { MAX_COMPARED, overlay } from '../../../runtime/interactions/bundle/drafts/overlay.js';
import { matches } from '../../../runtime/search/query/match.js';
import { printCondition } from '../../../runtime/search/query/print.js';
import type { Condition } from '../../../runtime/search/query/query.js';
import { createGenerator } from '../../contract/search/behaviour-search-generator.js';
import { text, token } from '../../contract/search/behaviour-search-helpers.js';
import { createRandom, seedOfRun } from '../../contract/random.js';

/** Changes over a store in which nothing is found. */
function overNothing() {
  const match = (type: string, where: Condition) =>
    Promise.resolve({ found: [], precondition: { type, where, found: [] } });
  const store = { read: () => Promise.resolve(undefined), match, matchOthers: match };
  return overlay(store, () => undefined, 1000);
}

describe('the pending changes of a transaction', () => {
  it('are found by each condition that they fulfil', async () => {
    const random = createRandom(seedOfRun());
    const ids = Array.from({ length: 150 }, (_, n) => `r${n}`);
    const generator = createGenerator(random, ids);
    const view = overNothing();
    const drafts: { id: string; lastUpdated: number; entries: ReturnType<typeof generator.entries> }[] = [];
    let total = 0;
    for (const id of ids) {
      const draft = { id, lastUpdated: 1000, entries: generator.entries() };
      view.put({ ...draft, type: 'T', version: 1 });
      drafts.push(draft);
      for (let n = 0; n < 10; n++) {
        const where = generator.condition();
        const expected = drafts.filter((each) => matches(where, each)).map((each) => each.id);
        const { found } = await view.match('T', where, Infinity);
        expect(found.map((each) => each.id).sort(), printCondition(where)).toEqual(expected.sort());
        total += expected.length;
      }
    }
    expect(total).toBeGreaterThan(100);
  });

  it('are compared up to a limit where no exact value says which', async () => {
    const view = overNothing();
    const size = 20_000;
    const entries = [token('c', 's'), ...Array.from({ length: 98 }, (_, n) => text(`word ${n}`))];
    for (let n = 0; n < size; n++) view.put({ type: 'T', id: `r${n}`, version: 1, entries });
    const byText = async (): Promise<void> => {
      const where: Condition = { param: 'p', any: [{ is: 'string-begins', folded: 'other' }] };
      for (let n = 0; n <= MAX_COMPARED / size / 100; n++) await view.match('T', where, 2);
    };
    await expect(byText()).rejects.toMatchObject({ code: 'transaction-too-large' });
  });
});
