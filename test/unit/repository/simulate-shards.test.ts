import { readFileSync } from 'node:fs';
import { execFileSync } from 'node:child_process';
import { fileURLToPath } from 'node:url';
import { expect, it } from 'vitest';

import { explainSharding } from '../../../runtime/doctor/check-sharding.js';
import { asked, erlang, KINDS, messages, MIXES, predict, SHARDS, table } from '../../../scripts/simulate-shards.mjs';

const script = fileURLToPath(new URL('../../../scripts/simulate-shards.mjs', import.meta.url));
const page = readFileSync(new URL('../../../docs/scaling.md', import.meta.url), 'utf8');

it('docs/scaling.md has what the simulator prints', () => {
  const printed = execFileSync(process.execPath, [script], { encoding: 'utf8' });
  expect(printed).toBe(`${table()}\n`);
  expect(page).toContain(printed);
});

it('asks as many shards as each kind does by the table that commands are held to', () => {
  const wide = new Map(
    explainSharding().flatMap(({ text }) => {
      const [head = '', kinds = ''] = text.split(': ');
      const shards = ['one', 'few', 'all'].find((word) => head.split(' ').includes(word))!;
      return kinds.split('; ').map((kind) => [kind, shards] as const);
    }),
  );
  for (const { row, shards } of Object.values(KINDS)) expect([row, wide.get(row)]).toEqual([row, shards]);
  for (const mix of Object.values(MIXES)) expect(Object.values(mix).reduce((sum, each) => sum + each, 0)).toBe(100);
});

it('counts messages as a router would send them', () => {
  const { read, update, identifier, transaction } = KINDS;
  expect(SHARDS.map((count) => messages(read, count))).toEqual([1, 1, 1, 1, 1, 1, 1]);
  expect(SHARDS.map((count) => messages(identifier, count))).toEqual(SHARDS);
  expect([1, 64].map((count) => messages(update, count))).toEqual([3, 5]);
  // Eight commands to three shards, which prepare and commit.
  expect([1, 64].map((count) => messages(transaction, count))).toEqual([8, 8 * 3 + 2 * 3]);
  expect(asked(identifier, 64)).toBe(64);
});

it('queues as the formulas say', () => {
  // One server: the chance to wait is the load. Two at half load: one in three.
  expect(erlang(1, 0.6)).toBeCloseTo(0.6);
  expect(erlang(2, 0.5)).toBeCloseTo(1 / 3);
  const options = { cores: 4, load: 0.6 };
  const grown = (mix: Record<string, number>) => predict(mix, 64, options).most / predict(mix, 1, options).most;
  expect(grown({ read: 100 })).toBeCloseTo(64);
  expect(grown({ identifier: 100 })).toBeCloseTo(1);
  expect(grown({ page: 100 })).toBeCloseTo(1 / (0.2 + 0.8 / 64));
  const at = (load: number) => predict({ read: 100 }, 1, { cores: 4, load }).latency;
  expect(at(0.9)).toBeGreaterThan(2 * at(0.1) - 500);
});
