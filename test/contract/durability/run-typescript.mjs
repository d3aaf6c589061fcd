// Lets a child process of a test run our sources: `node --import .../run-typescript.mjs file.ts`.
// Node 20 reads no TypeScript; each file is transpiled on its own, without checking types, and kept in .cache/, because
// loading the compiler takes longer than most tests.
import { createHash, randomUUID } from 'node:crypto';
import { mkdirSync, readFileSync, renameSync, writeFileSync } from 'node:fs';
import { register } from 'node:module';
import { fileURLToPath } from 'node:url';
import { isMainThread } from 'node:worker_threads';

import { withBundledEntries } from '../../workers/entries.mjs';

const HOOKS = '?hooks';
// A thread that a process starts gets its arguments, but is bundled.
if (isMainThread && !import.meta.url.endsWith(HOOKS)) register(import.meta.url + HOOKS);

const cache = fileURLToPath(new URL('../../../.cache/typescript/', import.meta.url));

export async function resolve(specifier, context, next) {
  // Imports are written for the compiled files.
  const source = specifier.startsWith('.') ? specifier.replace(/\.js$/, '.ts') : specifier;
  try {
    return await next(source, context);
  } catch (error) {
    if (source === specifier) throw error;
    return next(specifier, context);
  }
}

export async function load(url, context, next) {
  if (!url.endsWith('.ts')) return next(url, context);
  const text = withBundledEntries(url, readFileSync(new URL(url), 'utf8'));
  return { format: 'module', source: await transpile(text), shortCircuit: true };
}

async function transpile(text) {
  const file = `${cache}${createHash('sha256').update(text).digest('hex')}.js`;
  try {
    return readFileSync(file, 'utf8');
  } catch {
    const { default: ts } = await import('typescript');
    const compilerOptions = {
      module: ts.ModuleKind.ESNext,
      target: ts.ScriptTarget.ES2023,
      verbatimModuleSyntax: true,
    };
    const { outputText } = ts.transpileModule(text, { compilerOptions });
    mkdirSync(cache, { recursive: true });
    // Several processes, and threads of one, do so at once.
    const own = `${file}.${randomUUID()}`;
    writeFileSync(own, outputText);
    renameSync(own, file);
    return outputText;
  }
}
