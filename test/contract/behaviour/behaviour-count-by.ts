import { beforeAll, describe, expect, it } from 'vitest';

import type { JsonObject, Resource } from '../../../runtime/fhir/resource.js';
import type { CountQuery, CountRow, Store } from '../../../runtime/store/store.js';
import { of, sharedStore, token } from '../search/behaviour-search-helpers.js';
import { deletion, type Subject } from '../subject.js';

const CODE = ['code', 'coding', 0, 'code'] as const;

/** Counts by texts in resources. */
export function countByBehaviour(on: Subject): void {
  const subject = sharedStore(on);
  let store: Store;
  beforeAll(async () => {
    ({ store } = subject);
    const codes = ['a', 'b', 'a', "it's", 'a"b', undefined, 'a', 'b'];
    await store.write(codes.map((code, i) => observation(`o${i}`, code, i % 2 === 0 ? 'final' : 'amended')));
    await store.write([observation('none', undefined, 'final', { code: { text: 'no coding' } })]);
    await store.write([observation('gone', 'a', 'final')]);
    await store.write([deletion('gone', 1, 'Observation')]);
    await store.write([{ ...observation('o0', 'b', 'final'), expected: 1 }]);
  });

  const counted = async (query: Partial<CountQuery>): Promise<CountRow[] | undefined> => {
    const rows = await store.countBy({ type: 'Observation', where: { all: [] }, by: [CODE], most: 100, ...query });
    return rows && [...rows].sort((a, b) => (String(a.values) < String(b.values) ? -1 : 1));
  };

  it('counts living resources by a text, and those without it', async () => {
    expect(await counted({})).toEqual([
      { values: [undefined], count: 2 },
      { values: ['a'], count: 2 },
      { values: ['a"b'], count: 1 },
      { values: ['b'], count: 3 },
      { values: ["it's"], count: 1 },
    ]);
  });

  it('counts by several texts', async () => {
    const rows = await counted({ by: [['status'], ['code', 'coding', 1, 'code']] });
    expect(rows).toEqual([
      { values: ['amended', undefined], count: 4 },
      { values: ['final', undefined], count: 5 },
    ]);
  });

  it('counts what fulfils a condition', async () => {
    const where = { param: 'status', any: [{ is: 'token' as const, code: 'amended' }] };
    expect(await counted({ where })).toEqual([
      { values: [undefined], count: 1 },
      { values: ['b'], count: 2 },
      { values: ["it's"], count: 1 },
    ]);
    expect(await counted({ where: { all: [{ ids: ['o2', 'o6', 'gone', 'never'] }, { not: where }] } })).toEqual([
      { values: ['a'], count: 2 },
    ]);
    expect(await counted({ where: { ids: [] } })).toEqual([]);
  });

  it('gives nothing of a type that was never there, and no more rows than wanted', async () => {
    expect(await counted({ type: 'Never' })).toEqual([]);
    expect(await counted({ most: 5 })).toHaveLength(5);
    expect(await counted({ most: 4 })).toBeUndefined();
  });

  describe('a path', () => {
    it('that leads to no text finds none', async () => {
      expect(await counted({ by: [['code', 0, 'text']] })).toEqual([{ values: [undefined], count: 9 }]);
      expect(await counted({ by: [['status', 'code']] })).toEqual([{ values: [undefined], count: 9 }]);
    });
  });
}

function observation(id: string, code: string | undefined, status: string, more: JsonObject = {}) {
  const rest = { status, ...(code !== undefined && { code: { coding: [{ code }] } }), ...more };
  const head = `{"resourceType":"Observation","id":${JSON.stringify(id)},"meta":{`;
  return {
    ...{ type: 'Observation', id, expected: 0 },
    body: { head, tail: `},${JSON.stringify(rest).slice(1)}` },
    content: { resourceType: 'Observation', id, ...rest } as unknown as Resource,
    entries: [of('status', token(status))],
  };
}
