import { setTimeout as sleep } from 'node:timers/promises';
import { beforeAll, describe, expect, it } from 'vitest';

import { atMost } from '../../at-most.js';
import { MB } from '../mixed-load.js';
import { bundle, useLargeBodyServer } from './large-body.js';

/** 100 ms is the goal, which `npm run bench -- large-bodies` holds to; others may be using this machine. */
const LONGEST = 400;

function codeSystem(size: number): string {
  const concept = Array.from({ length: size }, (_, n) => ({ code: `c${n}`, display: 'A concept '.repeat(60) }));
  return JSON.stringify({ resourceType: 'CodeSystem', status: 'active', content: 'complete', concept });
}

describe.skipIf(process.platform !== 'linux')('a large body', () => {
  const server = useLargeBodyServer();
  beforeAll(async () => {
    expect(await server.load.send('PUT', '/Patient/small', { resourceType: 'Patient', id: 'small' })).toBe(201);
  });

  it.each([
    ['a transaction of 5,000 entries', '/', bundle('transaction', 5000), 200],
    ['a batch of 5,000 entries', '/', bundle('batch', 5000), 200],
    ['a resource of 10 MB', '/CodeSystem', codeSystem(16_000), 201],
  ])('keeps nobody waiting: %s', async (_what, path, body, status) => {
    expect(body.length).toBeGreaterThan(7 * MB);
    // Starts what has to be started.
    await server.post('/', bundle('batch', 500));
    let isDone = false;
    const posted = server.post(path, body).finally(() => (isDone = true));
    const times: number[] = [];
    while (!isDone) {
      const start = performance.now();
      expect(await server.load.send('GET', '/Patient/small')).toBe(200);
      times.push(performance.now() - start);
      await sleep(5);
    }
    expect(await posted).toBe(status);
    times.sort((a, b) => a - b);
    const [median, longest] = [times[times.length >> 1]!, times.at(-1)!];
    console.log(`${times.length} GETs meanwhile: ${median.toFixed(1)} ms, at most ${longest.toFixed(0)} ms`);
    expect(longest).toBeLessThan(atMost(LONGEST));
  });
});
