import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';

const SCRIPTS = 'scripts';

/** Modules of `dist/` that a script names: no compiler follows these paths. */
function modulesOf(script: string): string[] {
  const text = readFileSync(join(SCRIPTS, script), 'utf8');
  return [...text.matchAll(/(?:runtime|generator|generated)\/[\w/-]+\.js\b/g)].map(([path]) => path);
}

describe('modules that scripts load', () => {
  const named = readdirSync(SCRIPTS).flatMap((script) =>
    script.endsWith('.mjs') ? modulesOf(script).map((path) => [script, path] as const) : [],
  );
  it('are named', () => expect(named.length).toBeGreaterThan(10));
  it.each(named)('%s: %s is there', (_script, path) => {
    expect(existsSync(path.replace(/\.js$/, '.ts'))).toBe(true);
  });
});
