import { once } from 'node:events';
import { fileURLToPath } from 'node:url';
import { expect, it } from 'vitest';

import { startKiln } from '../../service/kiln-process.js';

/** Says at the end which files of the driver the process loaded; and, to show that it would have seen them, how many there are. */
const PRELOAD = fileURLToPath(new URL('say-loaded-driver.cjs', import.meta.url));

it('a server on SQLite loads no MongoDB driver, whose import takes a quarter of a start', async () => {
  const args = ['serve', '--port', '0', '--store', 'sqlite::memory:', '--log-level', 'error'];
  const kiln = startKiln(args, 'sources', { NODE_OPTIONS: `--require ${PRELOAD}` });
  await kiln.started;
  // Later than its exit: all that it printed is here.
  const closed = once(kiln.child, 'close');
  kiln.child.kill('SIGTERM');
  await closed;
  const [before, after] = JSON.parse(/^loaded (.*)$/m.exec(kiln.output.err)![1]!) as number[];
  expect(before).toBe(0);
  expect(after).toBeGreaterThan(0);
});
