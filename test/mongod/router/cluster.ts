import { findMongod } from '../find-mongod.js';
import { startReplicaSet } from '../replica-set.js';
import { startRouter, type Router } from './router.js';

/** Replica sets behind a router. */
export interface TestCluster {
  readonly router: Router;
  stop(): Promise<void>;
}

/** Starts replica sets of one member each, and a router. */
export async function startCluster(shards = 3): Promise<TestCluster> {
  const { path } = await findMongod();
  const sets = await Promise.all(Array.from({ length: shards }, () => startReplicaSet(path, 1, { cache: 0.25 })));
  const router = await startRouter(sets.map(({ members }) => members[0]!.host));
  return {
    router,
    async stop() {
      await router.close();
      await Promise.all(sets.map((set) => set.stop()));
    },
  };
}
