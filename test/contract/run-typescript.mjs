// Lets a child process of a test run our sources: `node --import .../run-typescript.mjs file.ts`.
// Node 20 reads no TypeScript; each file is transpiled on its own, without checking types.
import { readFileSync } from 'node:fs';
import { register } from 'node:module';
import { isMainThread } from 'node:worker_threads';
import ts from 'typescript';

if (isMainThread) register(import.meta.url);

const options = { module: ts.ModuleKind.ESNext, target: ts.ScriptTarget.ES2023, verbatimModuleSyntax: true };

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
  const { outputText } = ts.transpileModule(readFileSync(new URL(url), 'utf8'), { compilerOptions: options });
  return { format: 'module', source: outputText, shortCircuit: true };
}
