import { spawn } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { afterAll } from 'vitest';
import { projectRoot } from '../../generator/project-root.js';
import { listFiles } from '../../generator/write.js';

/** For what takes seconds on an idle machine, in milliseconds: others may be at work on this one. */
export const PATIENCE = 120_000;

/** How a child process ended, and what it said. */
export interface Ended {
  readonly code: number | null;
  readonly signal: NodeJS.Signals | null;
  readonly out: string;
  readonly err: string;
}

/** Where and how a child process runs, and modules of `test/generator` that it loads first. */
export interface ChildOptions {
  readonly cwd?: string;
  readonly env?: Readonly<Record<string, string>>;
  readonly preload?: readonly string[];
}

/** Runs a TypeScript file of this checkout as a process of its own. */
export function runFile(file: string, args: readonly string[], options: ChildOptions = {}): Promise<Ended> {
  const root = projectRoot();
  const urlOf = (path: string): string => pathToFileURL(join(root, path)).href;
  const loaded = [
    'test/contract/durability/run-typescript.mjs',
    ...(options.preload ?? []).map((name) => `test/generator/${name}`),
  ];
  const child = spawn(
    process.execPath,
    [...loaded.flatMap((path) => ['--import', urlOf(path)]), join(root, file), ...args],
    { cwd: options.cwd ?? root, env: { ...process.env, ...options.env }, stdio: ['ignore', 'pipe', 'pipe'] },
  );
  const said = { out: '', err: '' };
  child.stdout.on('data', (chunk: Buffer) => (said.out += chunk.toString()));
  child.stderr.on('data', (chunk: Buffer) => (said.err += chunk.toString()));
  return new Promise((resolve, reject) => {
    child.on('error', reject);
    child.on('close', (code, signal) => resolve({ code, signal, ...said }));
  });
}

/** Runs `kiln`, from the sources. */
export function runKiln(args: readonly string[], options: ChildOptions = {}): Promise<Ended> {
  return runFile('runtime/cli/main.ts', args, options);
}

/** A function that makes new folders, all gone after the tests of the file. */
export function temporaryFolders(): (name: string) => string {
  const made: string[] = [];
  afterAll(() => {
    for (const dir of made) rmSync(dir, { recursive: true, force: true });
  });
  return (name) => {
    const dir = mkdtempSync(join(tmpdir(), `kiln-${name}-`));
    made.push(dir);
    return dir;
  };
}

/** All files of a folder, as `generator/generate.ts` makes them. */
export function readTree(dir: string): Map<string, string> {
  return new Map(listFiles(dir).map((path) => [path, readFileSync(join(dir, path), 'utf8')]));
}
