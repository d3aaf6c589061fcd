import { afterAll, beforeAll, expect, it } from 'vitest';

import { describeOnMongod } from '../../mongod/for-tests.js';
import { createLoad, MB } from '../mixed-load.js';
import { startOwnReplicaSet, startServer, type Server } from './mongo-servers.js';
import { soak } from '../soak.js';

const REQUESTS = soak(25_000);
/** Fills caches and pools, and lets V8 and the allocator find the sizes that this load needs. */
const WARM_UP = soak(20_000);

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
    `keeps its memory within 15 % over ${REQUESTS} mixed requests, after ${WARM_UP} that fill it`,
    async () => {
      const load = createLoad(new URL(server.base), server.kiln.child.pid!);
      await load.mixed(WARM_UP);
      const before = await load.settled();
      const { counts, samples, seconds } = await load.mixed(REQUESTS);
      const after = await load.settled();
      const quarter = samples.length / 4;
      const [early, late] = [Math.max(...samples.slice(0, quarter)), Math.max(...samples.slice(-quarter))];
      console.info(
        `${REQUESTS} requests in ${Math.round(seconds)} s (${Math.round(REQUESTS / seconds)} a second), ` +
          `${JSON.stringify([...counts])}; idle ${Math.round(before / MB)} MB, later ${Math.round(after / MB)} MB; ` +
          `highest of the first quarter ${Math.round(early / MB)} MB, of the last ${Math.round(late / MB)} MB`,
      );
      expect([...counts.keys()].filter((status) => ![200, 201, 204, 404, 410].includes(status))).toEqual([]);
      expect(counts.get(200)).toBeGreaterThan(REQUESTS / 2);
      expect(after).toBeLessThan(before * 1.15);
      // Under load it depends on when garbage was last collected, so this only finds what runs away.
      expect(late).toBeLessThan(early * 1.3);
    },
  );
});
