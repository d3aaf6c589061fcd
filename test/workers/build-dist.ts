import { execFile } from 'node:child_process';
import { existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import { inject } from 'vitest';

const BUILD = fileURLToPath(new URL('../../scripts/build.mjs', import.meta.url));

/**
 * Builds `dist/` of the sources, once in a run of tests: for those that measure what is built, or start processes of it. The first test
 * file that calls it builds, and those that run beside it wait.
 *
 * @throws Error with what the build printed, where it failed
 */
export async function buildDist(): Promise<void> {
  const run = inject('run');
  const [begun, done] = [join(run, 'begun'), join(run, 'done')];
  if (mkdirSync(begun, { recursive: true }) !== undefined) writeFileSync(done, await build());
  while (!existsSync(done)) await sleep(50);
  const printed = readFileSync(done, 'utf8');
  if (printed !== '') throw new Error(`no dist/: ${printed}`);
}

/** @returns what it printed where it failed; nothing where all went well */
function build(): Promise<string> {
  return new Promise((resolve) =>
    execFile(process.execPath, [BUILD], (error, out, err) => {
      resolve(error === null ? '' : `${out}${err}`.trim() || error.message);
    }),
  );
}
