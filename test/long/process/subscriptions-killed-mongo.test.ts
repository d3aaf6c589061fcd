import { afterAll } from 'vitest';

import { describeOnMongod } from '../../mongod/for-tests.js';
import { startOwnReplicaSet } from '../mongo/mongo-servers.js';
import { killedDeliveries } from './subscriptions-killed.js';

describeOnMongod('deliveries of two servers that are killed in turn, and their mongod', () => {
  let set: Awaited<ReturnType<typeof startOwnReplicaSet>> | undefined;
  afterAll(() => set?.stop());

  killedDeliveries(async () => {
    set = await startOwnReplicaSet(1);
    const [member] = set.members;
    const kill = async (): Promise<void> => {
      await member!.kill();
      await member!.start();
    };
    return { store: set.store, servers: 5, database: [kill, kill] };
  }, 2);
});

describeOnMongod('deliveries of two servers, one of which is killed, and the primary of three', () => {
  let set: Awaited<ReturnType<typeof startOwnReplicaSet>> | undefined;
  afterAll(() => set?.stop());

  killedDeliveries(async () => {
    const three = await startOwnReplicaSet(3);
    set = three;
    const kill = async (): Promise<void> => {
      const primary = await three.primary();
      await primary.kill();
      await three.primary();
      await primary.start();
    };
    return { store: three.store, servers: 1, database: [kill] };
  }, 2);
});
