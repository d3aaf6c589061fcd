import { request } from 'node:http';
import { setTimeout as sleep } from 'node:timers/promises';
import { expect, it } from 'vitest';

import { startKiln } from '../../service/kiln-process.js';

it('shutdown.drain is what a request in progress has, though it is longer than usual', async () => {
  const kiln = startKiln([
    'serve',
    '--port',
    '0',
    '--validation',
    'structure',
    '--store',
    'sqlite::memory:',
    '--shutdown-drain',
    '60s',
  ]);
  const base = await kiln.started;
  const text = '{"resourceType":"Basic","code":{"text":"x"}}';
  const headers = { 'content-type': 'application/fhir+json', 'content-length': text.length };
  const req = request(`${base}/Basic`, { method: 'POST', headers });
  const status = new Promise<number | string>((resolve) => {
    req.on('response', (res) => resolve(res.resume().statusCode ?? 0));
    req.on('error', (error: NodeJS.ErrnoException) => resolve(error.code ?? ''));
  });
  req.write(text.slice(0, 5));
  await sleep(500);
  kiln.child.kill('SIGTERM');
  // Longer than the 10 s that are the default.
  await sleep(12_000);
  req.end(text.slice(5));
  expect(await status).toBe(201);
  expect(await kiln.ended).toBe(0);
});
