import { setTimeout as sleep } from 'node:timers/promises';
import { afterAll, beforeAll, expect, it, onTestFailed } from 'vitest';

import { describeOnMongod } from '../../mongod/for-tests.js';
import { startOwnReplicaSet, startServer, type Server } from './mongo-servers.js';
import { soak } from '../soak.js';
import { startWriteLoad } from '../write-load.js';

const ROUNDS = soak(8);
const CLIENTS = 16;

describeOnMongod('two servers on one MongoDB, under write load', () => {
  let set: Awaited<ReturnType<typeof startOwnReplicaSet>>;
  let servers: readonly Server[] = [];
  beforeAll(async () => {
    set = await startOwnReplicaSet(1);
    // At once: both find an empty database.
    servers = await Promise.all([startServer(set.store), startServer(set.store)]);
  });
  afterAll(async () => {
    await Promise.all(servers.map((server) => server.kill()));
    await set?.stop();
  });

  it(`kill -9 of either or of mongod, ${ROUNDS} rounds: nothing lost or doubled, no gap, no lock left`, async () => {
    onTestFailed(() => console.info(servers.map((server) => server.log()).join('\n')));
    const load = startWriteLoad(servers, CLIENTS);
    const victims = [servers[0]!, set.members[0]!, servers[1]!, set.members[0]!];
    for (let round = 0; round < ROUNDS; round++) {
      await load.resumed();
      await sleep(300 + ((round * 137) % 700));
      const victim = victims[round % victims.length]!;
      await victim.kill();
      await victim.start();
    }
    await load.resumed();
    await load.stop();
    console.info(
      `${load.acknowledged.length} acknowledged; ${JSON.stringify([...load.statuses])}; ` +
        `slowest answer ${(load.slowest / 1000).toFixed(1)} s`,
    );
    expect(load.wrong).toEqual([]);
    for (const server of servers) expect(await load.audit(server)).toEqual([]);
    expect(load.acknowledged.length).toBeGreaterThan(ROUNDS * CLIENTS);
  });
});
