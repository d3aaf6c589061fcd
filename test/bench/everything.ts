import { Agent, get } from 'node:http';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

import { tables } from '../../generated/tables.js';
import { createApp } from '../../runtime/http/app.js';
import { listen } from '../../runtime/http/listen.js';
import { openSqliteStore } from '../../runtime/store/sqlite/sqlite-store.js';
import type { Resource } from '../../runtime/fhir/resource.js';
import { extract, load } from './data/load-clinic.js';
import { compare } from './measuring/measure.js';
import type { Bench } from './measuring/row.js';

const PACE = { rounds: 4, roundMs: 2000 };
const OBSERVATIONS = 4000;
const OTHERS = 500;
const PAGE = 1000;

/** The record of a patient with 5,000 resources, against the same resources by searches with _include. */
export const bench: Bench = async () => {
  const folder = mkdtempSync(join(tmpdir(), 'kiln-bench-'));
  const store = openSqliteStore(`sqlite:${join(folder, 'kiln.db')}`);
  try {
    await load(store, record());
    const kiln = await listen(createApp({ tables, store, extract }), '127.0.0.1', 0);
    try {
      const base = `${kiln.url}/fhir`;
      const searches = [
        'Patient?_id=p&_include=Patient:general-practitioner',
        `Observation?patient=p&_include=Observation:performer&_count=${PAGE}`,
        `Encounter?patient=p&_include=Encounter:participant&_count=${PAGE}`,
        `Condition?patient=p&_count=${PAGE}`,
      ];
      const everything = [`${base}/Patient/p/$everything?_count=${PAGE}`];
      const searched = searches.map((each) => `${base}/${each}`);
      const [ours, theirs] = [await walk(everything), await walk(searched)];
      if (ours.size !== theirs.size || [...ours].some((each) => !theirs.has(each))) {
        throw new Error(`$everything has ${ours.size} resources, the searches ${theirs.size}`);
      }
      const { measured, floor } = await compare(
        () => count(everything),
        // Some come with more than one of the searches, and count once.
        async () => (await count(searched), theirs.size),
        PACE,
      );
      return [
        {
          name: 'Patient/$everything of 5,000 resources',
          unit: 'resources',
          measured,
          floor: { name: 'searches with _include', measured: floor },
          goal: { ratio: 1.5 },
        },
      ];
    } finally {
      await kiln.close(0);
    }
  } finally {
    await store.close();
    rmSync(folder, { recursive: true });
  }
};

/** The full URLs on all pages. */
async function walk(urls: readonly string[]): Promise<ReadonlySet<string>> {
  const found = new Set<string>();
  await readPages(urls, (body) => {
    for (const [, each] of body.toString().matchAll(/"fullUrl":"([^"]*)"/g)) found.add(each!);
  });
  return found;
}

/** How many resources are on all pages. */
async function count(urls: readonly string[]): Promise<number> {
  let resources = 0;
  await readPages(urls, (body) => {
    for (let at = body.indexOf(FULL_URL); at >= 0; at = body.indexOf(FULL_URL, at + 1)) resources++;
  });
  return resources;
}

const FULL_URL = '"fullUrl":';

/**
 * Reads pages as cheaply as can be: the client is in this process, and its time counts. So nothing is compressed either, which would
 * take most of the time on both sides.
 */
async function readPages(urls: readonly string[], onPage: (body: Buffer) => void): Promise<void> {
  for (const url of urls) {
    for (let next: string | undefined = url; next !== undefined;) {
      const body = await read(next);
      onPage(body);
      next = /"relation":"next","url":"([^"]*)"/.exec(body.toString('utf8', 0, 10_000))?.[1];
    }
  }
}

function read(url: string): Promise<Buffer> {
  return new Promise((resolve, reject) => {
    const request = get(url, { agent, headers: { accept: 'application/fhir+json' } }, (answer) => {
      const pieces: Buffer[] = [];
      answer.on('data', (piece: Buffer) => pieces.push(piece));
      answer.on('end', () => resolve(Buffer.concat(pieces)));
      answer.on('error', reject);
    });
    request.on('error', reject);
  });
}

const agent = new Agent({ keepAlive: true });

function record(): Resource[] {
  const subject = { reference: 'Patient/p' };
  const by = (n: number) => ({ reference: `Practitioner/dr${n % 40}` });
  const code = { coding: [{ system: 'http://loinc.org', code: '1234-5' }] };
  const many = <T>(count: number, make: (n: number) => T): T[] => Array.from({ length: count }, (_, n) => make(n));
  return [
    { resourceType: 'Patient', id: 'p', generalPractitioner: [by(0)] },
    ...many(40, (n) => ({ resourceType: 'Practitioner', id: `dr${n}`, active: true })),
    ...many(OBSERVATIONS, (n) => ({
      ...{ resourceType: 'Observation', id: `o${n}`, status: 'final', code, subject, performer: [by(n)] },
      effectiveDateTime: `2020-01-${String(1 + (n % 28)).padStart(2, '0')}`,
      valueQuantity: { value: n, unit: 'mg', system: 'http://unitsofmeasure.org', code: 'mg' },
    })),
    ...many(OTHERS, (n) => ({ resourceType: 'Encounter', id: `e${n}`, status: 'completed', subject, participant: [{ actor: by(n) }] })), // prettier-ignore
    ...many(OTHERS, (n) => ({ resourceType: 'Condition', id: `c${n}`, subject, clinicalStatus: code, code })),
  ] as Resource[];
}
