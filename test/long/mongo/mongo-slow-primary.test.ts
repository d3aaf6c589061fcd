import { setTimeout as sleep } from 'node:timers/promises';
import { afterAll, beforeAll, expect, it, onTestFailed } from 'vitest';

import { atMost } from '../../at-most.js';
import { describeOnMongod } from '../../mongod/for-tests.js';
import { createClient, type Answer } from '../http-client.js';
import { startOwnReplicaSet, startServer, type Server } from './mongo-servers.js';
import { ANSWER_MS, startWriteLoad } from '../write-load.js';

const STOPPED_MS = 20_000;
const CLIENTS = 16;

describeOnMongod('a server on a MongoDB that does not answer for a while', () => {
  let set: Awaited<ReturnType<typeof startOwnReplicaSet>>;
  let server: Server;
  beforeAll(async () => {
    set = await startOwnReplicaSet(1);
    server = await startServer(set.store);
  });
  afterAll(async () => {
    await server?.kill();
    await set?.stop();
  });

  it('answers 503 with Retry-After in bounded time, then goes on with nothing lost or doubled', async () => {
    onTestFailed(() => console.info(server.log()));
    const load = startWriteLoad([server], CLIENTS);
    await load.resumed();
    await sleep(500);
    set.members[0]?.pause();
    const stopped = performance.now();
    const send = createClient(4, 2 * ANSWER_MS);
    const reads = ['/Patient/s1', '/Patient/s1/_history/1', '/Patient/_history', '/_history?_count=2'].map((path) =>
      timed(send(server.base, 'GET', path)),
    );
    for (const { answer, took } of await Promise.all(reads)) {
      expect([answer.status, Number(answer.headers['retry-after']) > 0], answer.text).toEqual([503, true]);
      expect(took).toBeLessThan(atMost(ANSWER_MS));
    }
    // It says so itself, and is not taken for dead.
    const root = server.base.replace(/\/fhir$/, '');
    const [live, ready] = await Promise.all(['live', 'ready'].map((at) => timed(send(root, 'GET', `/health/${at}`))));
    expect([live?.answer.status, ready?.answer.status]).toEqual([200, 503]);
    expect(Math.max(live?.took ?? Infinity, ready?.took ?? Infinity)).toBeLessThan(atMost(ANSWER_MS));
    send.close();

    await sleep(STOPPED_MS - (performance.now() - stopped));
    set.members[0]?.resume();
    const gap = await load.resumed();
    await load.stop();
    console.info(
      `resumed ${(gap / 1000).toFixed(1)} s after it went on; ${load.acknowledged.length} acknowledged; ` +
        `${JSON.stringify([...load.statuses])}; slowest answer ${(load.slowest / 1000).toFixed(1)} s`,
    );
    expect(load.wrong).toEqual([]);
    expect(load.statuses.get(0)).toBeUndefined();
    // Otherwise none of the writes met the pause.
    expect(load.statuses.get(503)).toBeGreaterThan(0);
    expect(await load.audit(server)).toEqual([]);
  });
});

async function timed(pending: Promise<Answer>): Promise<{ readonly answer: Answer; readonly took: number }> {
  const start = performance.now();
  const answer = await pending;
  return { answer, took: performance.now() - start };
}
