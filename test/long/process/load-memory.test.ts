import { spawnSync } from 'node:child_process';
import { createWriteStream, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { once } from 'node:events';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';

import { ENVIRONMENT } from '../../service/environment.js';
import { buildDist } from '../../workers/build-dist.js';

const root = new URL('../../../', import.meta.url).pathname;
const MB = 1024 * 1024;

/** Runs a command of dist/ and tells what most memory it had; reported by itself, because that is the kernel's count. */
function kiln(...args: string[]) {
  const report = "process.on('exit', () => console.error('RSS', process.resourceUsage().maxRSS * 1024))";
  const preload = `data:text/javascript,${encodeURIComponent(report)}`;
  const main = join(root, 'dist/runtime/cli/main.js');
  const run = spawnSync(process.execPath, ['--import', preload, main, ...args], {
    encoding: 'utf8',
    env: ENVIRONMENT,
    maxBuffer: 64 * MB,
  });
  return { code: run.status, out: run.stdout, err: run.stderr, rss: Number(/RSS (\d+)/.exec(run.stderr)?.[1]) };
}

describe('kiln load, at size', () => {
  const folder = mkdtempSync(join(tmpdir(), 'kiln-load-memory-'));
  beforeAll(buildDist);
  afterAll(() => rmSync(folder, { recursive: true }));

  it('loads 80 MB of NDJSON in 250 MB of memory, and the second time changes nothing', async () => {
    const file = join(folder, 'big.ndjson');
    const out = createWriteStream(file);
    const filler = 'x'.repeat(3000);
    let size = 0;
    let count = 0;
    while (size < 80 * MB) {
      const name = [{ family: `F${count}`, given: ['A', 'B'] }];
      const identifier = [{ system: 'urn:x', value: String(count) }];
      const address = [{ line: [filler], city: 'B' }];
      const line = `${JSON.stringify({ resourceType: 'Patient', id: `p${count++}`, name, identifier, address })}\n`;
      size += line.length;
      if (!out.write(line)) await once(out, 'drain');
    }
    out.end();
    await once(out, 'close');
    const store = `sqlite:${join(folder, 'big.db')}`;
    const first = kiln('load', file, '--store', store);
    expect([first.code, first.out]).toEqual([0, expect.stringContaining(`${count} created`)]);
    const second = kiln('load', file, '--store', store);
    expect([second.code, second.out]).toEqual([0, expect.stringContaining(`0 updated, ${count} unchanged`)]);
    console.log(`80 MB of NDJSON: ${first.out.trim()}; ${first.rss / MB} MB, again ${second.rss / MB} MB`);
    expect(Math.max(first.rss, second.rss)).toBeLessThan(250 * MB);
  });
});
