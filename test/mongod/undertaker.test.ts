import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { existsSync, mkdtempSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { describe, expect, it } from 'vitest';

import { hireUndertaker } from './undertaker.js';

describe.skipIf(process.platform === 'win32')('what tests started', () => {
  it('is gone, with its folder, when it is buried', async () => {
    const folder = mkdtempSync(join(tmpdir(), 'kiln-undertaker-'));
    const sleeper = spawn('sleep', ['600']);
    const gone = once(sleeper, 'exit');
    const undertaker = hireUndertaker(folder);
    undertaker.watch([sleeper.pid ?? 0]);
    await undertaker.bury();
    expect(await gone).toEqual([null, 'SIGKILL']);
    expect(existsSync(folder)).toBe(false);
  });

  it('is gone when the process that started it was killed', async () => {
    const folder = mkdtempSync(join(tmpdir(), 'kiln-undertaker-'));
    // Stands for a test process: it hires an undertaker for a sleeper, and waits for its own end.
    const script = `
      import { spawn } from 'node:child_process';
      import { hireUndertaker } from ${JSON.stringify(new URL('./undertaker.ts', import.meta.url).href)};
      const { pid } = spawn('sleep', ['600'], { stdio: 'inherit' });
      hireUndertaker(${JSON.stringify(folder)}).watch([pid]);
      setTimeout(() => console.log('hired'), 100);
      setInterval(() => {}, 1000);`;
    const preload = new URL('../contract/durability/run-typescript.mjs', import.meta.url).href;
    const child = spawn(process.execPath, ['--import', preload, '--input-type=module', '--eval', script], {
      stdio: ['ignore', 'pipe', 'inherit'],
    });
    expect(String((await once(child.stdout, 'data'))[0])).toBe('hired\n');
    // Both hold the other end of this pipe, so it ends when neither is left.
    const ended = once(child.stdout, 'end');
    child.kill('SIGKILL');
    await ended;
    for (let looks = 0; looks < 500 && existsSync(folder); looks++) await sleep(20);
    expect(existsSync(folder)).toBe(false);
  });
});
