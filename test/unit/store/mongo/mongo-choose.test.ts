import { expect, it } from 'vitest';

import type { Condition } from '../../../../runtime/search/query/query.js';
import { findDrivers } from '../../../../runtime/store/mongo/query/drivers.js';
import { compile } from '../../../../runtime/store/mongo/query/compile/compile.js';
import { openProbes } from '../../../../runtime/store/mongo/query/plan/probe.js';
import type { Snapshot } from '../../../../runtime/store/mongo/read/snapshot.js';

const code = (value: string): Condition => ({ param: 'code', any: [{ is: 'token', code: value }] });

/** How many commands choosing a way takes where each way is empty, and which index keys were counted. */
async function commandsFor(conditions: readonly Condition[], probes = openProbes()) {
  const counted: string[] = [];
  const find = (query: { readonly min?: unknown }) => {
    counted.push(JSON.stringify(query.min));
    return Promise.resolve({ documents: [], isCut: false });
  };
  const counting = { snapshot: { find } as unknown as Snapshot, probes, limit: 100 };
  const drivers = await findDrivers(compile('T', { all: conditions }), counting);
  return { counted, compared: drivers.map(({ conjunct }) => conjunct.name()) };
}

it('a way that many conditions lead to is counted once', async () => {
  const same = Array.from({ length: 500 }, (_, i): Condition => ({ some: [code('a'), { not: code(`${i}`) }] }));
  const { counted } = await commandsFor([...same, ...Array.from({ length: 500 }, () => code('a'))]);
  expect(counted.length).toBeGreaterThan(0);
  expect(new Set(counted).size).toBe(counted.length);
});

it('of thousands of ways some are counted, the same in whatever order they are written', async () => {
  const many = Array.from({ length: 5000 }, (_, i) => code(`c${i}`));
  const one = await commandsFor(many);
  const other = await commandsFor([...many].reverse());
  expect(one.counted.length).toBeGreaterThan(10);
  expect(one.counted.length).toBeLessThanOrEqual(400);
  expect([...other.counted].sort()).toEqual([...one.counted].sort());
  expect([...other.compared].sort()).toEqual([...one.compared].sort());
});
