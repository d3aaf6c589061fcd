import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { makeFiles } from '../../generator/generate.js';
import { compare, listFiles, write } from '../../generator/write.js';
import { toyModel } from './toy-model.js';

const EXPECTED = join(import.meta.dirname, 'expected');

/** Pages are judged by tests of their own: here stand the tables and types. */
function generated(): Map<string, string> {
  return new Map([...makeFiles(toyModel())].filter(([path]) => !path.startsWith('docs/') && path !== 'manifest.json'));
}

describe('the toy package in, tables out (test/golden/package -> test/golden/expected)', () => {
  const files = generated();
  // `KILN_GOLDEN=write npx vitest run test/golden` takes the output over; read the diff before you commit it.
  if (process.env['KILN_GOLDEN'] === 'write') write(EXPECTED, files, compare(EXPECTED, files));

  it('makes these files and no others', () => {
    expect([...files.keys()]).toEqual(listFiles(EXPECTED));
  });

  it.each([...files.keys()])('%s', (path) => {
    expect(files.get(path)).toBe(readFileSync(join(EXPECTED, path), 'utf8'));
  });
});
