import { request } from 'node:http';
import { setTimeout as sleep } from 'node:timers/promises';
import { expect, it } from 'vitest';

import { atMost } from '../../at-most.js';
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

/** Has the main thread compute for ever at SIGUSR2. */
const STANDING = `--import=data:text/javascript,process.on('SIGUSR2',()=>{for(;;);})`;

it('SIGTERM ends a process whose main thread stands', async () => {
  const args = ['serve', '--port', '0', '--store', 'sqlite::memory:', '--shutdown-drain', '1s'];
  const kiln = startKiln(args, 'sources', { NODE_OPTIONS: STANDING });
  await kiln.started;
  kiln.child.kill('SIGUSR2');
  await sleep(1000);
  kiln.child.kill('SIGTERM');
  const began = performance.now();
  await kiln.ended;
  expect(kiln.child.signalCode).toBe('SIGKILL');
  // The thread that ends it waits for 30 s.
  expect(performance.now() - began).toBeLessThan(atMost(45_000));
  expect(kiln.output.err).toContain('the main thread stood still for 30 s');
});

it('what stands while it ends is ended', async () => {
  const args = [
    'serve',
    '--port',
    '0',
    '--store',
    'sqlite::memory:',
    '--shutdown-delay',
    '2s',
    '--shutdown-drain',
    '1s',
  ];
  const kiln = startKiln(args, 'sources', { NODE_OPTIONS: STANDING });
  await kiln.started;
  kiln.child.kill('SIGTERM');
  await sleep(500);
  kiln.child.kill('SIGUSR2');
  const began = performance.now();
  await kiln.ended;
  expect(kiln.child.signalCode).toBe('SIGKILL');
  expect(performance.now() - began).toBeLessThan(atMost(45_000));
});

it('a main thread that works hard, and lets others have their turn, is left alone', async () => {
  const busy = `--import=data:text/javascript,process.on('SIGUSR2',()=>setInterval(()=>{for(let%20e=Date.now()+900;Date.now()<e;);},1000))`;
  const kiln = startKiln(['serve', '--port', '0', '--store', 'sqlite::memory:'], 'sources', { NODE_OPTIONS: busy });
  await kiln.started;
  kiln.child.kill('SIGUSR2');
  await sleep(40_000);
  kiln.child.kill('SIGTERM');
  expect(await kiln.ended).toBe(0);
});
