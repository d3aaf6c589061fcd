import { setTimeout as sleep } from 'node:timers/promises';
import { afterAll, beforeAll, expect, it, onTestFailed } from 'vitest';

import { describeOnMongod } from '../../mongod/for-tests.js';
import { createClient } from '../http-client.js';
import { startOwnReplicaSet, startServer, type Server } from './mongo-servers.js';
import { ANSWER_MS, historyPages, shownIn, startWriteLoad } from '../write-load.js';

const APART_MS = 3000;
const WRITE_MS = 20_000;
/** What was written last has to be seen after this time. */
const SETTLE_MS = 30_000;

describeOnMongod('two servers with clocks 3 s apart, under write load', () => {
  let set: Awaited<ReturnType<typeof startOwnReplicaSet>>;
  let servers: readonly Server[] = [];
  beforeAll(async () => {
    set = await startOwnReplicaSet(1);
    servers = await Promise.all([startServer(set.store, APART_MS / 2), startServer(set.store, -APART_MS / 2)]);
  });
  afterAll(async () => {
    await Promise.all(servers.map((server) => server.kill()));
    await set?.stop();
  });

  it('a poller whose next _since is meta.lastUpdated sees every version', async () => {
    onTestFailed(() => console.info(servers.map((server) => server.log()).join('\n')));
    const load = startWriteLoad(servers, 16);
    const send = createClient(2, 2 * ANSWER_MS);
    const seen = new Set<string>();
    let since = new Date(0).toISOString();
    let polls = 0;
    /** One poll, of each server in turn. */
    const poll = async (): Promise<void> => {
      const { base } = servers[polls++ % servers.length]!;
      let next: string | undefined;
      for await (const bundle of historyPages(send, base, `/_history?_count=200&_since=${since}`)) {
        next ??= bundle.meta.lastUpdated;
        for (const { type, id, version } of shownIn(bundle)) seen.add(`${type}/${id}/${version}`);
      }
      since = next ?? since;
    };
    for (const end = Date.now() + WRITE_MS; Date.now() < end; await sleep(50)) await poll();
    await load.stop();

    const all: string[] = [];
    for await (const bundle of historyPages(send, servers[0]!.base, '/_history?_count=1000')) {
      for (const { type, id, version } of shownIn(bundle)) all.push(`${type}/${id}/${version}`);
    }
    const missed = (): string[] => all.filter((version) => !seen.has(version));
    for (const end = Date.now() + SETTLE_MS; missed().length > 0 && Date.now() < end; await sleep(200)) await poll();
    console.info(`${all.length} versions in ${polls} polls; ${JSON.stringify([...load.statuses])}`);
    expect(missed()).toEqual([]);
    expect(load.wrong).toEqual([]);
    expect(polls).toBeGreaterThan(20);
    send.close();
    expect(await load.audit(servers[1]!)).toEqual([]);
  });
});
