import { expect } from 'vitest';

import { tables } from '../../../generated/tables.js';
import { createApp } from '../../../runtime/http/app.js';
import { listen } from '../../../runtime/http/listen.js';
import type { Resource } from '../../../runtime/fhir/resource.js';
import type { Change, Store } from '../../../runtime/store/store.js';
import { atMost } from '../../at-most.js';
import { extract, load } from '../../bench/data/load-clinic.js';

/** Versions of each resource that will go: the last is its deletion. */
const VERSIONS = 5;
const LIMIT = 1000;
const LIVE = 200;

/** More in one transaction are too much for a MongoDB with a cache of 256 MB, which keeps what was written in the last five minutes. */
const WRITTEN_AT_ONCE = 100;

/** Reads without an expunge, before it and after it, and how much longer they may take beside it. */
const IDLE = 500;
const TIMES = 3;

/** What the test is called. */
export function expungeTitle(doomed: number): string {
  return `$expunge of ${doomed * VERSIONS} versions in calls of 1,000 leaves nothing behind, and others read meanwhile`;
}

/**
 * Writes many versions beside a few live resources, removes them call by call while others read, and compares what the store has.
 *
 * @param doomed resources that will go; the number of their versions ends in the middle of a call
 * @param count how many entries each table or collection of the store has
 */
export async function expungeAtLength(
  store: Store,
  doomed: number,
  count: () => Readonly<Record<string, number>> | Promise<Readonly<Record<string, number>>>,
): Promise<void> {
  await load(store, observations('live', LIVE));
  const before = await count();
  await writeDoomed(store, doomed);
  const { total } = await store.history({ count: 0 });
  expect(total).toBe(LIVE + doomed * VERSIONS);
  const server = await listen(createApp({ tables, store, extract, allowsExpunge: true }), '127.0.0.1', 0);
  const reads: number[] = [];
  const idle: number[] = [];
  try {
    let isDone = false;
    const prefix = `${server.url}/fhir/Observation/live`;
    await readWhile(() => idle.length < IDLE, prefix, idle);
    const reader = readWhile(() => !isDone, prefix, reads);
    const counts: number[] = [];
    for (let last = LIMIT; last === LIMIT; counts.push(last)) last = await expunge(`${server.url}/fhir`);
    isDone = true;
    await reader;
    await readWhile(() => idle.length < 2 * IDLE, prefix, idle);
    expect(counts.reduce((sum, each) => sum + each, 0)).toBe(doomed * VERSIONS);
    expect(Math.max(...counts)).toBe(LIMIT);
  } finally {
    await server.close(0);
  }
  expect(await count()).toEqual(before);
  const [beside, without] = [p99(reads), p99(idle)];
  console.log(`${reads.length} reads meanwhile, p99 ${beside.toFixed(1)} ms, ${without.toFixed(1)} ms without`);
  expect(reads.length).toBeGreaterThan(100);
  expect(beside).toBeLessThan(Math.max(atMost(100), TIMES * without));
}

/** What 99 of 100 take at most. */
function p99(times: readonly number[]): number {
  return [...times].sort((a, b) => a - b)[Math.floor(times.length * 0.99)]!;
}

/** One call. @returns how many versions it removed */
async function expunge(base: string): Promise<number> {
  const flags = ['expungeDeletedResources', 'expungePreviousVersions'].map((name) => ({ name, valueBoolean: true }));
  const answer = await fetch(`${base}/$expunge`, {
    method: 'POST',
    headers: { 'content-type': 'application/fhir+json' },
    body: JSON.stringify({ resourceType: 'Parameters', parameter: [...flags, { name: 'limit', valueInteger: LIMIT }] }),
  });
  expect(answer.status).toBe(200);
  const { parameter } = (await answer.json()) as { parameter: [{ valueInteger: number }] };
  return parameter[0].valueInteger;
}

/** Reads one resource after another, ten at the same time, and notes how long each took, in milliseconds. */
async function readWhile(isOn: () => boolean, prefix: string, times: number[]): Promise<void> {
  const one = async (n: number): Promise<void> => {
    for (let at = n; isOn(); at++) {
      const begun = performance.now();
      const answer = await fetch(`${prefix}${at % LIVE}`);
      await answer.text();
      times.push(performance.now() - begun);
      expect(answer.status).toBe(200);
      await new Promise((resolve) => setTimeout(resolve, 5));
    }
  };
  await Promise.all(Array.from({ length: 10 }, (_, n) => one(n)));
}

async function writeDoomed(store: Store, count: number): Promise<void> {
  const doomed = [...observations('doomed', count)];
  for (let expected = 0; expected < VERSIONS; expected++) {
    for (let from = 0; from < count; from += WRITTEN_AT_ONCE) {
      const piece = doomed.slice(from, from + WRITTEN_AT_ONCE);
      await store.write(piece.map((content) => changeOf(content, expected)));
    }
  }
}

function changeOf(content: Resource, expected: number): Change {
  const { resourceType: type, id: given, ...rest } = content;
  const id = String(given);
  if (expected === VERSIONS - 1) return { type, id, expected };
  const head = `${JSON.stringify({ resourceType: type, id }).slice(0, -1)},"meta":{`;
  const body = { head, tail: `},${JSON.stringify(rest).slice(1)}` };
  return { type, id, expected, body, content, entries: extract(content) };
}

function* observations(prefix: string, count: number): Iterable<Resource> {
  for (let n = 0; n < count; n++) {
    yield {
      ...{ resourceType: 'Observation', id: `${prefix}${n}`, status: 'final', subject: { reference: `Patient/p${n}` } },
      code: { coding: [{ system: 'http://loinc.org', code: `${n % 50}-1`, display: 'Body weight' }] },
      effectiveDateTime: `2020-01-${String(1 + (n % 28)).padStart(2, '0')}`,
      valueQuantity: { value: n, unit: 'mg', system: 'http://unitsofmeasure.org', code: 'mg' },
      note: [{ text: `a word ${n}` }],
    } as Resource;
  }
}
