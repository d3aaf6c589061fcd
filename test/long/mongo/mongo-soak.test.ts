import { afterAll, beforeAll, expect, it } from 'vitest';

import { describeOnMongod } from '../../mongod/for-tests.js';
import { floorGrowth } from '../memory-floor.js';
import { createLoad, MB } from '../mixed-load.js';
import { startOwnReplicaSet, startServer, type Server } from './mongo-servers.js';
import { soak } from '../soak.js';

const REQUESTS = soak(20_000);
/** Fills caches and pools, and lets V8 and the allocator find the sizes that this load needs. */
const WARM_UP = soak(15_000);
/** Samples, of a hundred: as long it takes until a server that was idle has taken again what it gave back. */
const AGAIN = 40;

describeOnMongod('a server on MongoDB over a long time', () => {
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

  it.skipIf(process.platform !== 'linux')(
    `keeps its memory within 10 % over ${REQUESTS} mixed requests, after ${WARM_UP} that fill it`,
    async () => {
      const load = createLoad(new URL(server.base), server.kiln.child.pid!);
      await load.mixed(WARM_UP);
      const before = await load.settled();
      const { counts, samples, seconds } = await load.mixed(REQUESTS);
      const after = await load.settled();
      const growth = floorGrowth(samples.slice(AGAIN));
      console.info(
        `${REQUESTS} requests in ${Math.round(seconds)} s (${Math.round(REQUESTS / seconds)} a second), ` +
          `${JSON.stringify([...counts])}; idle ${Math.round(before / MB)} MB, later ${Math.round(after / MB)} MB; ` +
          `floor under load × ${growth.toFixed(2)}`,
      );
      expect([...counts.keys()].filter((status) => ![200, 201, 204, 404, 410].includes(status))).toEqual([]);
      expect(counts.get(200)).toBeGreaterThan(REQUESTS / 2);
      // Beside other programs it counts as idle later, and gives back then.
      await expect.poll(() => load.resident(), { timeout: 60_000 }).toBeLessThan(before * 1.1);
      // Single samples depend on when garbage was last collected.
      expect(growth).toBeLessThan(1.2);
    },
  );
});
