import { spawn, type ChildProcess } from 'node:child_process';
import { join } from 'node:path';

import { commandOf } from '../workers/entries.mjs';
import { ENVIRONMENT } from './environment.js';

const ROOT = new URL('../../', import.meta.url).pathname;
const DIST = join(ROOT, 'dist/runtime/cli/main.js');

function fromCopy(folder: string): string[] {
  return ['--import', join(ROOT, 'test/contract/durability/run-typescript.mjs'), join(folder, 'runtime/cli/main.ts')];
}

/** `kiln` in a process of its own. */
export interface KilnProcess {
  readonly child: ChildProcess;
  /** FHIR base, once it serves. */
  readonly started: Promise<string>;
  readonly ended: Promise<number | null>;
  readonly output: { out: string; err: string };
}

/**
 * Starts a command: from a bundle of the sources, from the sources of a copy of the project, or from `dist/` where memory or time is
 * measured.
 */
export function startKiln(
  args: readonly string[],
  from: 'sources' | 'dist' | { readonly copy: string } = 'sources',
  extraEnv: Readonly<Record<string, string>> = {},
): KilnProcess {
  const run = typeof from === 'object' ? fromCopy(from.copy) : [from === 'dist' ? DIST : commandOf(ROOT).pathname];
  const env = { ...ENVIRONMENT, ...extraEnv };
  const child = spawn(process.execPath, [...run, ...args], { env, stdio: ['ignore', 'pipe', 'pipe'] });
  const output = { out: '', err: '' };
  child.stderr.on('data', (chunk) => (output.err += String(chunk)));
  const started = new Promise<string>((resolve, reject) => {
    child.stdout.on('data', (chunk) => {
      output.out += String(chunk);
      const url = /http:\S+/.exec(output.out)?.[0];
      if (url !== undefined) resolve(url);
    });
    child.once('exit', () => reject(new Error(`ended before it served: ${output.err}`)));
  });
  started.catch(() => {}); // for those who only wait for its end
  const ended = new Promise<number | null>((resolve) => child.once('exit', resolve));
  return { child, started, ended, output };
}
