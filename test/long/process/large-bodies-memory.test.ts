import { setTimeout as sleep } from 'node:timers/promises';
import { describe, expect, it } from 'vitest';

import { MB } from '../mixed-load.js';
import { bundle, useLargeBodyServer } from './large-body.js';

describe.skipIf(process.platform !== 'linux')('a large body', () => {
  const server = useLargeBodyServer();

  it('uses memory in proportion to its size', async () => {
    const { load, post } = server;
    // Starts what has to be started, and fills what is kept.
    expect(await post('/', bundle('transaction', 5000))).toBe(200);
    const before = await load.settled();
    const grown: number[] = [];
    for (const size of [1250, 2500, 5000]) {
      let isDone = false;
      let peak = 0;
      const posted = post('/', bundle('transaction', size)).finally(() => (isDone = true));
      for (; !isDone; await sleep(10)) peak = Math.max(peak, load.resident());
      expect(await posted).toBe(200);
      grown.push((peak - before) / MB);
    }
    console.log(`1,250, 2,500, 5,000 entries: ${grown.map((each) => `${each.toFixed(0)} MB`).join(', ')} more`);
    // A thread is among it, and garbage; four times the entries take four times the memory at most.
    expect(grown[2]).toBeLessThan(4 * Math.max(grown[0]!, 60));
    expect(grown[2]).toBeLessThan(450);
  });
});
