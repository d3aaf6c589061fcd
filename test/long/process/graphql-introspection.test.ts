import { getIntrospectionQuery } from 'graphql';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';

import { cpuOf, memoryOf } from '../../bench/measuring/waits.js';
import { startKiln } from '../../service/kiln-process.js';
import { buildDist } from '../../workers/build-dist.js';

const MB = 1024 * 1024;

/** The schema has 17 MB as JSON. */
describe.skipIf(process.platform !== 'linux')('the standard introspection query', () => {
  it('takes less than two seconds of the processor and 60 MB, as the first request of a server', async () => {
    await buildDist();
    const folder = mkdtempSync(join(tmpdir(), 'kiln-introspection-'));
    const store = `sqlite:${join(folder, 'kiln.db')}`;
    const kiln = startKiln(['serve', '--port', '0', '--store', store, '--log-level', 'error'], 'dist');
    try {
      const base = await kiln.started;
      const pid = kiln.child.pid!;
      // What the start took at most is not counted. https://docs.kernel.org/filesystems/proc.html
      writeFileSync(`/proc/${pid}/clear_refs`, '5');
      const [before, cpu] = [memoryOf(pid).now, cpuOf(pid)];
      const headers = { 'content-type': 'application/json' };
      const body = JSON.stringify({ query: getIntrospectionQuery() });
      const answer = await fetch(`${base}/$graphql`, { method: 'POST', headers, body });
      let size = 0;
      for await (const piece of answer.body!) size += (piece as Uint8Array).length;
      expect(size).toBeGreaterThan(10 * MB);
      expect(cpuOf(pid) - cpu).toBeLessThan(2000);
      expect(memoryOf(pid).peak - before).toBeLessThan(60 * MB);
    } finally {
      kiln.child.kill('SIGKILL');
      await kiln.ended;
      rmSync(folder, { recursive: true });
    }
  });
});
