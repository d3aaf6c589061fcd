import { afterAll, describe, expect, it } from 'vitest';

import type { Store } from '../../../runtime/store/store.js';
import { load } from '../../bench/data/load-clinic.js';
import { openStore } from '../../contract/open-store.js';
import { ASYNC, jobsServer } from '../../http/jobs/jobs-server.js';
import { replacementParameters } from '../../http/operations/replacement-support.js';
import { expectRefusal } from '../../http/write-server.js';
import { findMongod } from '../../mongod/find-mongod.js';
import { describeOnMongod, mongodUrl } from '../../mongod/for-tests.js';
import { startReplicaSet } from '../../mongod/replica-set.js';

/** What one undo restores at most. */
const MOST = 10_000;

/** As many as a MongoDB restores whose cache has the least size that it can have, 256 MB. */
const MOST_OF_SMALL_CACHE = 2500;

/** Of so many it has no room for the changes. */
const MORE_THAN_SMALL_CACHE = 6000;

/** Replaces references and restores them. @param count of those that are restored @param tooMany those that the store has no room for */
function undone(store: Store, count: number, tooMany?: number): void {
  const server = jobsServer(store);
  const { all } = server;
  const send = (path: string, source: string, target: string, headers = {}) =>
    all.send('POST', path, replacementParameters(`Patient/${source}`, `Patient/${target}`), headers);
  const totalOf = async (patient: string): Promise<number> =>
    (await all.send('GET', `/Observation?subject=Patient/${patient}&_summary=count`)).json().total;
  const arrange = (prefix: string, referrers: number): Promise<void> =>
    load(store, [
      ...['a', 'b'].map((id) => ({ resourceType: 'Patient', id: prefix + id })),
      ...Array.from({ length: referrers }, (_, n) => ({
        ...{ resourceType: 'Observation', id: `${prefix}${n}`, status: 'final', code: { text: `x ${n}` } },
        ...{ subject: { reference: `Patient/${prefix}a` } },
      })),
    ]);

  it(`${count} resources are restored by one undo`, async () => {
    await arrange('most-', count);
    expect((await send('/$svc.fhir.replace-references', 'most-a', 'most-b', ASYNC)).status).toBe(202);
    await server.finish();
    expect(await totalOf('most-b')).toBe(count);
    const begun = performance.now();
    const answer = await send('/$svc.fhir.undo-replace-references', 'most-a', 'most-b');
    console.log(`${count} resources restored in ${Math.round(performance.now() - begun)} ms`);
    expect(answer.status, answer.text).toBe(200);
    expect(await totalOf('most-a')).toBe(count);
  });

  it.runIf(tooMany)('of more than the store has room for nothing is, and the answer says so', async () => {
    await arrange('large-', tooMany!);
    expect((await send('/$svc.fhir.replace-references', 'large-a', 'large-b', ASYNC)).status).toBe(202);
    await server.finish();
    const begun = performance.now();
    const answer = await send('/$svc.fhir.undo-replace-references', 'large-a', 'large-b');
    console.log(`${tooMany} resources refused in ${Math.round(performance.now() - begun)} ms`);
    expectRefusal(answer, 413, 'transaction-too-large', 'nothing was restored');
    expect(await totalOf('large-b')).toBe(tooMany);
    expect(await totalOf('large-a')).toBe(0);
  });

  // The bound is the same whatever the store, so the larger one shows it.
  it.runIf(count === MOST)('of more nothing is, and the answer says so', async () => {
    await arrange('more-', MOST + 1);
    expect((await send('/$svc.fhir.replace-references', 'more-a', 'more-b', ASYNC)).status).toBe(202);
    await server.finish();
    const answer = await send('/$svc.fhir.undo-replace-references', 'more-a', 'more-b');
    expectRefusal(answer, 400, 'parameter-invalid', `at most ${MOST}`);
    expect(await totalOf('more-b')).toBe(MOST + 1);
  });
}

const sqlite = await openStore('sqlite::memory:');
describe('an undo at length on SQLite', () => {
  afterAll(() => sqlite.close());
  undone(sqlite, MOST);
});

// A server of its own, because other tests fill the cache of the one that all share.
const set =
  mongodUrl() === undefined ? undefined : await startReplicaSet((await findMongod()).path, 1, { cache: 0.25 });
const mongo = set === undefined ? undefined : await openStore(set.url);
describeOnMongod('an undo at length on MongoDB', () => {
  if (mongo === undefined) return;
  afterAll(async () => {
    await mongo.close();
    await set?.stop();
  });
  undone(mongo, MOST_OF_SMALL_CACHE, MORE_THAN_SMALL_CACHE);
});
