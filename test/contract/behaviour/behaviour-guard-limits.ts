import { expect, it } from 'vitest';

import type { Condition } from '../../../runtime/search/query/query.js';
import { of, text } from '../search/behaviour-search-helpers.js';
import { put, useStore, type Subject } from '../subject.js';

/** A guard whose search takes very long. */
const COSTLY: Condition = {
  all: [
    {
      param: 'name',
      any: Array.from({ length: 5000 }, (_, n) => ({ is: 'string-contains' as const, folded: `q${n}` })),
    },
    { not: { param: 'name', any: [{ is: 'string-contains', folded: 'never' }] } },
  ],
};

/** How long writes may keep others waiting by what they ask. */
export function guardLimitBehaviour(on: Subject): void {
  const subject = useStore(on);

  it('a guard that takes too long to look at is refused, and the writes beside it are done', async () => {
    const store = await subject.reopen({ preconditionBudget: 500 });
    const entries = Array.from({ length: 20 }, (_, n) => of('name', text(`${'lorem ipsum dolor '.repeat(20)}${n}`)));
    await store.write(Array.from({ length: 200 }, (_, n) => put(`w${n}`, 0, 'x', entries, 'Words')));
    const [costly, plain, quick] = await Promise.allSettled([
      store.write([put('a', 0)], [{ type: 'Words', where: COSTLY, found: [] }]),
      store.write([put('b', 0)]),
      store.write([put('c', 0)], [{ type: 'Words', where: { ids: ['none'] }, found: [] }]),
    ]);
    expect(costly).toMatchObject({ status: 'rejected', reason: { code: 'too-costly', status: 503 } });
    expect([plain?.status, quick?.status]).toEqual(['fulfilled', 'fulfilled']);
    expect(await store.counts()).toEqual(
      new Map([
        ['Patient', 2],
        ['Words', 200],
      ]),
    );
    expect(await store.check()).toEqual({ ok: true });
  });
}
