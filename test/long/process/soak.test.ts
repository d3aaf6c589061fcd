import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeAll, beforeEach, describe, expect, it } from 'vitest';

import { startKiln, type KilnProcess } from '../../service/kiln-process.js';
import { buildDist } from '../../workers/build-dist.js';
import { floorGrowth, quantile } from '../memory-floor.js';
import { createLoad, MB, type LoadGenerator } from '../mixed-load.js';
import { soak } from '../soak.js';

const root = new URL('../../../', import.meta.url).pathname;
const EXAMPLES = join(root, 'test/packages/node_modules/hl7.fhir.r5.examples');

const REQUESTS = soak(20_000);
const WARM_UP = soak(15_000);
/** Samples, of a hundred: as long it takes until a server that was idle has taken again what it gave back. */
const AGAIN = 40;

const inMegabytes = (bytes: number): number => Math.round(bytes / MB);

describe.skipIf(process.platform !== 'linux')('memory of a server', () => {
  let folder: string;
  let store: string;
  let kiln: KilnProcess;
  let base: string;
  let load: LoadGenerator;

  beforeAll(buildDist);
  beforeEach(async () => {
    folder = mkdtempSync(join(tmpdir(), 'kiln-soak-'));
    store = `sqlite:${join(folder, 'kiln.db')}`;
    kiln = startKiln(
      ['serve', '--port', '0', '--validation', 'structure', '--store', store, '--log-level', 'error'],
      'dist',
    );
    base = await kiln.started;
    load = createLoad(new URL(base), kiln.child.pid!);
  });
  afterEach(async () => {
    kiln.child.kill('SIGKILL');
    await kiln.ended;
    rmSync(folder, { recursive: true });
  });

  it(`is about 120 MB after its start, and flat over ${REQUESTS} mixed requests`, async () => {
    expect(await load.send('GET', '/metadata')).toBe(200);
    const [first, idle] = [load.resident(), await load.settled()];
    console.log(`after start: ${inMegabytes(first)} MB, idle ${inMegabytes(idle)} MB`);
    // 103 to 120 were seen, 9 of them the thread of the watchdog. Beside other programs a server counts as idle later, and gives back then.
    await expect.poll(() => load.resident(), { timeout: 60_000 }).toBeLessThan(130 * MB);

    // Fills caches, and lets V8 and the allocator find the sizes that this load needs.
    await load.mixed(WARM_UP);
    const before = await load.settled();
    const { counts, samples, seconds } = await load.mixed(REQUESTS);
    const after = await load.settled();
    const quarters = [0, 25, 50, 75].map((from) => samples.slice(from, from + 25));
    const summary = quarters.map((part) => [0, 0.25, 0.5, 0.75, 1].map((each) => inMegabytes(quantile(part, each))));
    const growth = floorGrowth(samples.slice(AGAIN));
    console.log(
      `${REQUESTS} requests in ${Math.round(seconds)} s (${Math.round(REQUESTS / seconds)} a second), ` +
        `${JSON.stringify([...counts])}; idle ${inMegabytes(before)} MB, later ${inMegabytes(after)} MB; under ` +
        `load, quartiles of each quarter of the run ${summary.map((part) => part.join(' ')).join(', ')}; floor × ${growth.toFixed(2)}`,
    );
    expect([...counts.keys()].filter((status) => ![200, 201, 204, 404, 410].includes(status))).toEqual([]);
    expect(counts.get(200)).toBeGreaterThan(REQUESTS / 2);
    // What is stored grows too, and with it what is cached of it. Beside other programs a server counts as idle later, and gives back then.
    await expect.poll(() => load.resident(), { timeout: 60_000 }).toBeLessThan(before * 1.1);
    // Single samples depend on when garbage was last collected: 160 to 270 MB were seen in one run that was flat.
    expect(growth).toBeLessThan(1.15);
  });

  /** Loads the official examples. */
  const loadExamples = async (...target: readonly string[]): Promise<string> => {
    const loader = startKiln(['load', EXAMPLES, ...target], 'dist');
    await loader.ended;
    return loader.output.out.trim();
  };
  /** Has it read one of them, and looks at what memory it has then. @param summary of the load */
  const expectSmall = async (summary: string): Promise<void> => {
    expect(await load.send('GET', '/Patient/example')).toBe(200);
    const [last, settled] = [load.resident(), await load.settled()];
    console.log(summary, `server: ${inMegabytes(last)} MB, idle ${inMegabytes(settled)} MB`);
    // Over HTTP 188 to 205: beside the heaps, caches of SQLite and what the allocator keeps of large bodies.
    expect(settled).toBeLessThan(280 * MB);
  };

  it('is about 250 MB after the examples were loaded beside it, into its store; a second load changes nothing', async () => {
    const target = ['--store', store, '--limits-resource', '100 MB'];
    // Full validation refuses 161 that break the invariant `que-2`; two Subscriptions are active.
    const summary = await loadExamples(...target);
    expect(summary).toMatch(/^2659 resources .* 163 failed/);
    await expectSmall(summary);
    expect(await loadExamples(...target)).toContain('0 created, 0 updated, 2659 unchanged');
  });

  it('is about 250 MB after the examples were loaded over HTTP', async () => {
    // This server asks for neither rule. One example is larger than the limit of a resource; of two Subscriptions and two topics the
    // server could not do what they say (their topics, `eventTrigger`, parameters that R5 has not).
    const summary = await loadExamples('--url', base);
    expect(summary).toMatch(/^2817 resources .* 5 failed/);
    await expectSmall(summary);
  });
});
