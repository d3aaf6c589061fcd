import { spawnSync } from 'node:child_process';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

import { projectRoot } from '../../generator/project-root.js';
import type { Bench, Measured } from './measuring/row.js';

const root = projectRoot();
const kiln = join(root, 'dist/runtime/cli/main.js');
const tsc = createRequire(import.meta.url).resolve('typescript/bin/tsc');

/** Reads the package's files as JSON and writes them: a bare process that does what no generator can leave out. */
const BARE = `
  const { readdirSync, readFileSync } = require('node:fs');
  const dir = process.argv[1];
  for (const file of readdirSync(dir).filter((name) => name.endsWith('.json')))
    JSON.stringify(JSON.parse(readFileSync(dir + '/' + file, 'utf8')));
`;
const PACKAGE = ['-e', BARE, join(root, 'node_modules/hl7.fhir.r5.core')];

/** Runs of each; the fastest counts. */
const RUNS = 3;

/** What `npm run bench -- generator` measures: runs of `dist/`, so `npm run build` comes first. */
export const bench: Bench = () => {
  const dir = mkdtempSync(join(tmpdir(), 'kiln-generator-'));
  const project = join(dir, 'tsconfig.json');
  writeFileSync(join(dir, 'empty.ts'), 'export {};\n');
  const compilerOptions = { rootDir: dir, skipLibCheck: false, typeRoots: [join(root, 'node_modules/@types')] };
  writeFileSync(project, JSON.stringify({ extends: join(root, 'tsconfig.json'), compilerOptions, include: [], files: ['empty.ts'] })); // prettier-ignore
  try {
    const floor = { name: 'the package as JSON', measured: fastest(() => PACKAGE) };
    const unit = 'runs';
    const generate = (folder: number): string[] => [kiln, 'generate', '--out', join(dir, String(folder))];
    return Promise.resolve([
      { name: 'kiln generate into a new folder', unit, measured: fastest(generate), floor, goal: { ratio: 1 / 8 } },
      {
        name: 'kiln generate --check',
        unit,
        measured: fastest(() => [...generate(0), '--check']),
        floor,
        goal: { ratio: 1 / 8 },
      },
      {
        name: 'tsc of the whole checkout, tests included',
        unit,
        measured: fastest(() => [tsc, '-p', join(root, 'tsconfig.json')]),
        floor: { name: 'tsc of the types of Node', measured: fastest(() => [tsc, '-p', project]) },
      },
    ]);
  } finally {
    rmSync(dir, { recursive: true, force: true });
  }
};

/** Measures the run that took the processor for the shortest time, with its threads and processes. */
function fastest(args: (run: number) => readonly string[]): Measured {
  const runs = Array.from({ length: RUNS }, (_, run) => measure(args(run)));
  return runs.sort((a, b) => a.cpuMs - b.cpuMs)[0]!;
}

/** @throws Error with what it printed, where it failed */
function measure(args: readonly string[]): Measured {
  const counted = ['-c', '"$@"; code=$?; times >&2; exit $code', 'bash', process.execPath, ...args];
  const begun = performance.now();
  const { status, stdout, stderr } = spawnSync('bash', counted, { cwd: root, encoding: 'utf8' });
  const wallMs = performance.now() - begun;
  if (status !== 0) throw new Error(`${stdout}${stderr}`);
  // Bash prints its own times in one line and those of what it started in the next: of the program, and of the system.
  const times = [...stderr.matchAll(/(\d+)m([\d.]+)s/g)].slice(-4);
  const cpuMs = times.reduce((sum, [, minutes, seconds]) => sum + 60_000 * +minutes! + 1000 * +seconds!, 0);
  return { count: 1, wallMs, cpuMs };
}
