// `npm run dev -- OPTIONS…`: serves with these options of `kiln serve`, compiles when a source file changes, and restarts.
import { spawn } from 'node:child_process';
import { createRequire } from 'node:module';
import { fileURLToPath } from 'node:url';

import { build } from './build.mjs';

const root = fileURLToPath(new URL('..', import.meta.url));
const main = fileURLToPath(new URL('../dist/runtime/cli/main.js', import.meta.url));
const tsc = createRequire(import.meta.url).resolve('typescript/bin/tsc');

process.exitCode = await build(); // the packed tables too, which the compiler does not write
if (process.exitCode === 0) {
  const children = [
    spawn(process.execPath, [tsc, '-p', 'tsconfig.build.json', '--watch', '--preserveWatchOutput'], {
      cwd: root,
      stdio: ['ignore', 'inherit', 'inherit'],
    }),
    spawn(process.execPath, ['--watch', '--watch-preserve-output', main, 'serve', ...process.argv.slice(2)], {
      stdio: 'inherit',
    }),
  ];
  for (const signal of ['SIGINT', 'SIGTERM']) process.once(signal, () => children.forEach((child) => child.kill()));
}
