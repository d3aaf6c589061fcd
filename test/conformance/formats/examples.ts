import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';

/** An official example. */
export interface Example {
  /** Name of its file. */
  readonly file: string;
  readonly text: string;
  readonly resource: Record<string, unknown>;
}

const PACKAGE = join('test', 'packages', 'node_modules', 'hl7.fhir.r5.examples');

/** Found from this file's place, which for a compiled bench is below `.cache`. */
function exampleFolder(): string {
  for (let at = dirname(fileURLToPath(import.meta.url)); at !== dirname(at); at = dirname(at)) {
    if (existsSync(join(at, PACKAGE))) return join(at, PACKAGE);
  }
  throw new Error('the examples are not installed: node scripts/test-packages.mjs');
}

const folder = exampleFolder();

/** Names of the files with official examples, in code-point order; `npm test` installs the package. */
export function exampleFiles(): string[] {
  return readdirSync(folder)
    .filter((file) => file.endsWith('.json') && file !== 'package.json' && file !== '.index.json')
    .sort();
}

/** Reads one example. */
export function readExample(file: string): Example {
  const text = readFileSync(join(folder, file), 'utf8');
  return { file, text, resource: JSON.parse(text) as Record<string, unknown> };
}
