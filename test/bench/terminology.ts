import { copyFileSync, mkdtempSync, rmSync } from 'node:fs';
import { Agent, get as getOverHttp } from 'node:http';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

import { tables } from '../../generated/tables.js';
import type { Resource } from '../../runtime/fhir/resource.js';
import { expand, type ExpansionOptions } from '../../runtime/terminology/expand.js';
import { judgeInValueSet } from '../../runtime/terminology/judge.js';
import { ANY_LANGUAGE } from '../../runtime/terminology/systems/languages.js';
import { ANY_VERSION, createResolver } from '../../runtime/terminology/resolver.js';
import { createApp } from '../../runtime/http/app.js';
import { listen } from '../../runtime/http/listen.js';
import { openSqliteStore } from '../../runtime/store/sqlite/sqlite-store.js';
import { send, startClient } from './servers/http-client.js';
import { extract } from './data/load-clinic.js';
import { measure } from './measuring/measure.js';
import type { Bench, Measured, Row } from './measuring/row.js';

const SYSTEM = 'http://cs.example/large';
const SIZE = 100_000;

const OPTIONS: ExpansionOptions = {
  ...{ activeOnly: false, excludeNested: false, excludeNotForUI: false, includeDesignations: false },
  ...{ designations: undefined, languages: ANY_LANGUAGE, properties: new Set(), excludedSystems: new Set() },
};

/** What `npm run bench -- terminology` measures: expansions of a code system with 100,000 concepts, and checks of its codes. */
export const bench: Bench = async () => {
  const concept = Array.from({ length: SIZE }, (_, i) => ({
    code: `c${i}`,
    display: `Finding number ${i} of the ${['heart', 'lung', 'liver', 'knee'][i % 4]}`,
    property: i === 0 ? [] : [{ code: 'parent', valueCode: `c${Math.floor((i - 1) / 8)}` }],
  }));
  const system = { resourceType: 'CodeSystem', url: SYSTEM, status: 'active', content: 'complete', concept };
  const include = (more: object) => ({ compose: { include: [{ system: SYSTEM, ...more }] } });
  const all = { resourceType: 'ValueSet', url: 'http://vs.example/all', status: 'active', ...include({}) };
  const part = {
    ...{ ...all, url: 'http://vs.example/part' },
    ...include({ filter: [{ property: 'concept', op: 'is-a', value: 'c1' }] }),
  };
  const known = new Map([system, all, part].map((each) => [each.url, each as unknown as Resource]));
  const resolver = createResolver((_type, url) => Promise.resolve(known.get(url)));
  const context = () => ({
    ...{ resolver, versions: ANY_VERSION, signal: undefined },
    used: { systems: new Set<string>(), valueSets: new Set<string>() },
  });
  const expanded = (url: string, more: Partial<ExpansionOptions>) => async () => {
    await expand(known.get(url)!, { ...OPTIONS, ...more }, context());
    return 1;
  };
  const judge = { languages: ANY_LANGUAGE, isLenient: false, takesAbstract: true, activeOnly: false, membershipOnly: false }; // prettier-ignore
  let at = 0;
  const checked = async (): Promise<number> => {
    for (let i = 0; i < 100; i++) {
      const sent = { system: SYSTEM, code: `c${(at += 7919) % SIZE}`, place: 'Coding' };
      const { member } = await judgeInValueSet(sent, known.get(all.url)!, context(), judge);
      if (member === undefined) throw new Error(`${sent.code} is missing`);
    }
    return 100;
  };
  const rows: Row[] = [];
  const add = async (name: string, unit: string, work: () => Promise<number>, rate: number): Promise<void> => {
    rows.push({ name, unit, measured: await measure(work), goal: { rate } });
  };
  // 5 ms each, and what HTTP adds.
  await add('expand 100,000 codes by words, 20 of them', 'expansions', expanded(all.url, { filter: 'number 99', count: 20 }), 200); // prettier-ignore
  await add('expand a part by words, 20 of them', 'expansions', expanded(part.url, { filter: 'knee', count: 20 }), 200);
  await add('check a code against 100,000', 'checks', checked, 20_000);
  await overHttp(rows, system);
  return rows;
};

/** Pages by words, of the large code system; checks of codes, of a stored value set and of a required binding, and a batch of a hundred. */
async function overHttp(
  rows: Row[],
  large: { readonly concept: readonly { readonly code: string; readonly display: string }[] },
): Promise<void> {
  // Where compiled benches look for what the build has packed.
  copyFileSync('dist/generated/terminology.ndjson', new URL('../../generated/terminology.ndjson', import.meta.url));
  const folder = mkdtempSync(join(tmpdir(), 'kiln-bench-'));
  const store = openSqliteStore(`sqlite:${join(folder, 'kiln.db')}`);
  const server = await listen(createApp({ tables, store, extract }), '127.0.0.1', 0);
  const client = startClient();
  try {
    const concept = Array.from({ length: 5000 }, (_, i) => ({ code: `c${i}`, display: `Code ${i}`, concept: [{ code: `c${i}-1` }] })); // prettier-ignore
    const stored = [
      { resourceType: 'CodeSystem', id: 'cs', url: 'http://cs.example/stored', status: 'active', content: 'complete', concept }, // prettier-ignore
      { resourceType: 'ValueSet', id: 'vs', url: 'http://vs.example/stored', status: 'active', compose: { include: [{ system: 'http://cs.example/stored', filter: [{ property: 'concept', op: 'is-a', value: 'c7' }] }] } }, // prettier-ignore
    ];
    // With the index entries of its codes a resource may have 15 MB, so the parents are left out.
    const codes = large.concept.map(({ code, display }) => ({ code, display }));
    const whole = { ...large, resourceType: 'CodeSystem', id: 'large', concept: codes };
    for (const each of [whole, ...stored]) {
      const headers = { 'content-type': 'application/fhir+json' };
      const answer = await fetch(`${server.url}/fhir/${each.resourceType}/${each.id}`, { method: 'PUT', headers, body: JSON.stringify(each) }); // prettier-ignore
      if (answer.status !== 201) throw new Error(await answer.text());
    }
    const get = (query: string): string =>
      `GET /fhir/ValueSet/$validate-code?${query} HTTP/1.1\r\nHost: 127.0.0.1\r\n\r\n`;
    const gender = 'url=http://hl7.org/fhir/ValueSet/administrative-gender&system=http://hl7.org/fhir/administrative-gender&code='; // prettier-ignore
    const own = 'url=http://vs.example/stored&system=http://cs.example/stored&code=';
    const entry = Array.from({ length: 100 }, (_, i) => ({ request: { method: 'GET', url: `ValueSet/$validate-code?${own}c${i}` } })); // prettier-ignore
    const bundle = JSON.stringify({ resourceType: 'Bundle', type: 'batch', entry });
    const posted = async (): Promise<number> => {
      const headers = { 'content-type': 'application/fhir+json' };
      const answer = await fetch(`${server.url}/fhir`, { method: 'POST', headers, body: bundle });
      const { entry: answers } = (await answer.json()) as { entry: readonly { response: { status: string } }[] };
      if (answers.some(({ response }) => response.status !== '200 OK')) throw new Error('an entry failed');
      return answers.length;
    };
    const add = async (name: string, work: () => Promise<number>) => {
      rows.push({ name, unit: 'checks', measured: await measure(work), goal: { rate: 5000 } });
    };
    const often =
      (...requests: string[]) =>
      () =>
        send(client, { port: server.port, requests, count: 3000 });
    const words = (i: number): string => ['knee number 99', 'heart', 'lung num 7', 'find liver 4'][i % 4]!;
    const page = (i: number): string => `${server.url}/fhir/ValueSet/$expand?url=${SYSTEM}&filter=${encodeURIComponent(words(i))}&count=20`; // prettier-ignore
    rows.push({ name: '$expand over HTTP, 20 of 100,000 by words', unit: 'pages', measured: await oneByOne(page), goal: { p50: 5 } }); // prettier-ignore
    await add('$validate-code over HTTP, a required binding', often(get(`${gender}male`), get(`${gender}none`)));
    await add('$validate-code over HTTP, a stored value set', often(get(`${own}c7-1`), get(`${own}c8`)));
    // What the client takes is counted as well.
    await add('$validate-code in a batch of 100', posted);
  } finally {
    client.disconnect();
    await server.close(0);
    await store.close();
    rmSync(folder, { recursive: true });
  }
}

/** Requests that are warmed up with, and that are measured. */
const [WARM_UP, MEASURED] = [100, 500];

/** Requests over one connection, each after the answer to the one before. What the client takes is counted as well. */
async function oneByOne(urlOf: (i: number) => string): Promise<Measured> {
  const agent = new Agent({ keepAlive: true, maxSockets: 1 });
  const times: number[] = [];
  let cpu = process.cpuUsage();
  for (let i = 0; i < WARM_UP + MEASURED; i++) {
    if (i === WARM_UP) cpu = process.cpuUsage();
    const start = performance.now();
    await answerTo(urlOf(i), agent);
    if (i >= WARM_UP) times.push(performance.now() - start);
  }
  const { user, system } = process.cpuUsage(cpu);
  agent.destroy();
  const sorted = times.toSorted((a, b) => a - b);
  const at = (share: number): number => sorted[Math.floor(sorted.length * share)]!;
  const wallMs = times.reduce((sum, time) => sum + time, 0);
  return { count: times.length, wallMs, cpuMs: (user + system) / 1000, times: { p50: at(0.5), p99: at(0.99) } };
}

/** @throws Error where the answer is not an expansion with codes */
function answerTo(url: string, agent: Agent): Promise<void> {
  return new Promise((resolve, reject) => {
    getOverHttp(url, { agent }, (answer) => {
      let text = '';
      answer.setEncoding('utf8');
      answer.on('data', (piece: string) => (text += piece));
      answer.on('end', () => (text.includes('"contains"') ? resolve() : reject(new Error(text.slice(0, 500)))));
    }).on('error', reject);
  });
}
