import { afterAll, describe, expect, it } from 'vitest';

import { tables } from '../../../generated/tables.js';
import { DEFAULT_SERVICES } from '../../../runtime/core/default-services.js';
import { openReindexRecord } from '../../../runtime/jobs/reindex/reindex-record.js';
import { reindexType } from '../../../runtime/jobs/reindex/reindex.js';
import { openBodyWorkers } from '../../../runtime/body-workers/body-workers.js';
import { startBodyWorker } from '../../../runtime/body-workers/start-thread.js';
import { createExtractor, type Extractor } from '../../../runtime/indexing/extract.js';
import { describeIndex } from '../../../runtime/indexing/index-record.js';
import { atMost } from '../../at-most.js';
import { createToyStore } from '../../toy/store.js';
import { entry, transaction, useBundleServer } from '../../http/bundles/bundle-server.js';

/**
 * A resource contains thousands of others at most, each of which has entries of its own: between these others have their turn. To tell that
 * on any machine, each takes a while here, and all together a second.
 */

const MANY = 1500;
const EACH = 0.7;

const limits = { nesting: 100, entries: 50, resource: 2 ** 24 };
const intake = openBodyWorkers(() => startBodyWorker({ zone: 'UTC', own: [], validation: 'structure', limits }, 512), {
  body: 20 * 2 ** 20,
  threads: 1,
});
afterAll(() => intake.close());

const quick = createExtractor(tables);
let extracted = 0;
const extract: Extractor = (resource, without) => {
  extracted++;
  const began = performance.now();
  const entries = quick(resource, without);
  while (performance.now() - began < EACH);
  return entries;
};

const container = (id: string, status: string) => ({
  resourceType: 'MedicationRequest',
  id,
  status,
  intent: 'order',
  subject: { reference: 'Patient/p' },
  medication: { reference: { reference: '#m0' } },
  contained: Array.from({ length: MANY }, (_, n) => ({
    resourceType: 'Medication',
    id: `m${n}`,
    code: {
      coding: [{ system: 'http://codes.example', code: `c${n}` }],
      text: `the medication ${n}, ${'x'.repeat(100)}`,
    },
  })),
});

/** How long others have to wait meanwhile, in milliseconds. */
async function longestWait(action: () => Promise<unknown>): Promise<number> {
  let longest = 0;
  let before = performance.now();
  const look = (): void => {
    longest = Math.max(longest, performance.now() - before);
    before = performance.now();
  };
  const timer = setInterval(look, 1);
  await action();
  clearInterval(timer);
  look();
  return longest;
}

describe.each([
  ['here', {}],
  ['in a thread', { large: intake }],
])('nobody waits long for a resource that contains many, read %s', (where, more) => {
  const store = createToyStore();
  const server = useBundleServer(store, { extract, ...more });
  const path = '/MedicationRequest/many';
  const patch = JSON.stringify([{ op: 'replace', path: '/status', value: 'on-hold' }]);
  const bundle = transaction(entry('PUT', 'MedicationRequest/other', container('other', 'active')));

  it.each([
    ['PUT', () => server.send('PUT', path, container('many', 'draft'))],
    ['PATCH', () => server.send('PATCH', path, patch, { 'content-type': 'application/json-patch+json' })],
    ['a transaction', () => server.send('POST', '', bundle)],
  ])(
    '%s',
    async (name, send) => {
      extracted = 0;
      const longest = await longestWait(async () => expect((await send()).status).toBeLessThan(300));
      // The thread has done it, but for what stands in a Bundle.
      const isHere = where === 'here' || name === 'a transaction';
      expect(extracted > MANY).toBe(isHere);
      expect(longest).toBeLessThan(atMost(350));
      expect((await server.send('GET', '/Medication?code=c1499&_contained=true')).json().total).toBeGreaterThan(0);
    },
    60_000,
  );

  it('kiln reindex', async () => {
    const record = await openReindexRecord(store, describeIndex(tables.search, 'UTC'));
    const signal = new AbortController().signal;
    const reindex = () =>
      reindexType('MedicationRequest', {
        ...DEFAULT_SERVICES,
        ...{ store, record, extract, signal },
        persist: (action) => action(),
        onStep: () => {},
      });
    const longest = await longestWait(async () => expect(await reindex()).toBe(2));
    expect(longest).toBeLessThan(atMost(350));
  }, 60_000);
});
