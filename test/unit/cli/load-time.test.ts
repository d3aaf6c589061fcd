import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, expect, it, vi } from 'vitest';

import { runProgram } from '../../../runtime/cli/program.js';
import type * as server from '../../../runtime/server.js';

type Server = typeof server;

/** Each write takes a minute by the clock of this process. */
vi.mock('../../../runtime/server.js', async (importOriginal) => {
  const original = await importOriginal<Server>();
  const openCore: Server['openCore'] = async (...args) => {
    const core = await original.openCore(...args);
    const write = core.store.write.bind(core.store);
    vi.spyOn(core.store, 'write').mockImplementation(async (...changes) => {
      const written = await write(...changes);
      await vi.advanceTimersByTimeAsync(60_000);
      return written;
    });
    return core;
  };
  return { ...original, openCore };
});

const folder = mkdtempSync(join(tmpdir(), 'kiln-load-'));
afterEach(() => {
  vi.useRealTimers();
  rmSync(folder, { recursive: true });
});

it('a load into a local store failed on a busy machine, by the time limit of requests', async () => {
  const file = join(folder, 'transaction.json');
  const entry = [
    { resource: { resourceType: 'Basic', code: { text: 'x' } }, request: { method: 'POST', url: 'Basic' } },
  ];
  writeFileSync(file, JSON.stringify({ resourceType: 'Bundle', type: 'transaction', entry }));
  const binary = join(folder, 'binary.json');
  writeFileSync(binary, JSON.stringify({ resourceType: 'Binary', id: 'b', contentType: 'text/plain', data: 'AAAA' }));
  const args = ['load', file, binary, '--bundles', 'apply', '--store', `sqlite:${join(folder, 'kiln.db')}`];
  const lines: string[] = [];
  const tell = (line: string): void => void lines.push(line);
  vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout', 'performance'] });
  const code = await runProgram(args, { out: tell, err: tell, draw: () => {}, env: {} });
  expect({ code, lines }).toEqual({
    code: 0,
    lines: [
      expect.stringContaining('new store') as string,
      expect.stringContaining('2 created, 0 updated, 0 unchanged; 0 failed') as string,
    ],
  });
});
