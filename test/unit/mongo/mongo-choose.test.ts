import { expect, it } from 'vitest';

import type { Condition } from '../../../runtime/search/query/query.js';
import { choose } from '../../../runtime/store/mongo/query/plan/choose.js';
import { compile } from '../../../runtime/store/mongo/query/compile/compile.js';
import { openProbes } from '../../../runtime/store/mongo/query/plan/probe.js';
import type { Snapshot } from '../../../runtime/store/mongo/read/snapshot.js';

const code = (value: string): Condition => ({ param: 'code', any: [{ is: 'token', code: value }] });

/** How many commands choosing a way takes where each way is empty, and which index keys were counted. */
async function commandsFor(conditions: readonly Condition[], probes = openProbes()) {
  const counted: string[] = [];
  const find = (query: { readonly min?: unknown }) => {
    counted.push(JSON.stringify(query.min));
    return Promise.resolve({ documents: [], isCut: false });
  };
  const { best } = await choose({ find } as unknown as Snapshot, probes, compile('T', { all: conditions }));
  return { counted, best: best?.way.access.stretches };
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
  expect(other.best).toEqual(one.best);
});

it('absolute references to this server are not counted for each resource where there are none', async () => {
  const probes = openProbes();
  const to = (id: string): Condition => {
    const test = { is: 'reference', types: ['Patient'], id } as const;
    return { param: 'patient', any: [test, { ...test, base: 'https://x/fhir' }] };
  };
  const first = await commandsFor([to('1')], probes);
  expect(first.counted).toHaveLength(2);
  expect(first.counted.join()).toContain('"https://x/fhir/Patient/"');
  const second = await commandsFor([to('2')], probes);
  expect(second.counted).toEqual([expect.stringContaining('"Patient/2"')]);
  // All the same they are found.
  expect(second.best).toHaveLength(2);
});

it('a search of which many matches were counted is not counted again for a minute, one that took too long for five seconds', () => {
  let time = 0;
  const probes = openProbes(() => time);
  probes.noteLong('many', true);
  probes.noteLong('slow', false);
  const long = (): string[] => ['many', 'slow', 'other'].filter((name) => probes.isLong(name));
  expect(long()).toEqual(['many', 'slow']);
  time = 5001;
  expect(long()).toEqual(['many']);
  time = 60_001;
  expect(long()).toEqual([]);
});
