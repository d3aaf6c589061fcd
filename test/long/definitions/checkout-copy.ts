import { spawn } from 'node:child_process';
import { cpSync, mkdtempSync, rmSync, symlinkSync } from 'node:fs';
import { createServer } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { afterAll, afterEach, beforeAll, expect } from 'vitest';

import { ENVIRONMENT } from '../../service/environment.js';
import { buildDist } from '../../workers/build-dist.js';

export const ROOT = fileURLToPath(new URL('../../../', import.meta.url));

const COPIED = ['package.json', 'package-lock.json', 'tsconfig.json', 'tsconfig.build.json', 'definitions', 'docs', 'generated', 'generator', 'runtime', 'scripts', 'dist']; // prettier-ignore
const LINKED = ['node_modules', 'test'];

/** A process that has ended: exit code, and what it wrote. */
export interface Ended {
  readonly code: number | null;
  readonly text: string;
}

/** A copy of the checkout, in which tests generate and build. */
export interface CheckoutCopy {
  readonly folder: string;
  /** Runs a script of the copy. */
  readonly run: (...args: string[]) => Promise<Ended>;
  /** Serves what was built, from memory, until the test ends. @returns URL of the base */
  readonly serve: () => Promise<string>;
}

/** Makes the copy before all tests of a suite, and removes it after them. */
export function checkoutCopy(): CheckoutCopy {
  const folder = mkdtempSync(join(tmpdir(), 'kiln-package-'));
  const stops: (() => Promise<unknown>)[] = [];
  beforeAll(async () => {
    await buildDist();
    for (const name of COPIED) {
      cpSync(join(ROOT, name), join(folder, name), { recursive: true, preserveTimestamps: true });
    }
    for (const name of LINKED) symlinkSync(join(ROOT, name), join(folder, name));
  });
  afterEach(async () => {
    for (const stop of stops.splice(0)) await stop();
  });
  afterAll(() => {
    rmSync(folder, { recursive: true });
  });
  return {
    folder,
    run: (...args) =>
      new Promise((resolve) => {
        const child = spawn(process.execPath, args, { cwd: folder, env: ENVIRONMENT });
        let text = '';
        for (const stream of [child.stdout, child.stderr]) stream.on('data', (chunk) => (text += String(chunk)));
        child.once('close', (code) => resolve({ code, text }));
      }),
    async serve() {
      const port = await freePort();
      const options = ['serve', '--auth', 'open', '--store', 'sqlite::memory:', '--port', String(port)];
      const child = spawn(process.execPath, ['dist/runtime/cli/main.js', ...options], {
        cwd: folder,
        env: ENVIRONMENT,
      });
      stops.push(() => new Promise((resolve) => (child.once('close', resolve), child.kill('SIGTERM'))));
      const base = `http://127.0.0.1:${port}/fhir`;
      await expect.poll(() => fetch(`${base}/metadata`).then(({ status }) => status, () => 0), { timeout: 120_000, interval: 200 }).toBe(200); // prettier-ignore
      return base;
    },
  };
}

/** A port that was free a moment ago. */
function freePort(): Promise<number> {
  return new Promise((resolve) => {
    const server = createServer().listen(0, '127.0.0.1', () => {
      const address = server.address();
      server.close(() => resolve(typeof address === 'object' ? (address?.port ?? 0) : 0));
    });
  });
}
