import { spawnSync } from 'node:child_process';
import { cpSync, mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, it } from 'vitest';

const SCRIPT = new URL('../../../scripts/check-links.mjs', import.meta.url);

let root: string;
beforeEach(() => {
  root = mkdtempSync(join(tmpdir(), 'kiln-links-'));
  mkdirSync(join(root, 'scripts'));
  cpSync(SCRIPT, join(root, 'scripts/check-links.mjs'));
  spawnSync('git', ['init', '--quiet'], { cwd: root });
});
afterEach(() => rmSync(root, { recursive: true }));

/** What the check of links prints of a README. */
function faultsOf(readme: string): string {
  writeFileSync(join(root, 'README.md'), readme);
  writeFileSync(join(root, 'other.md'), '# Other page\n\n<a id="mark"></a>\n\n## What `it` is, and why\n');
  return spawnSync(process.execPath, [join(root, 'scripts/check-links.mjs')], { encoding: 'utf8' }).stderr;
}

const words = (count: number): string => `${Array(count).fill('word').join(' ')}.`;

it.each([
  ['a page', '[x](other.md)'],
  ['a heading', '[x](other.md#what-it-is-and-why)'],
  ['an anchor that is written out', '[x](other.md#mark)'],
  ['a heading of the same page', '# A title\n\n[x](#a-title)'],
  ['another site', '[x](https://example.org/no#where)'],
  ['a link in code', '`[x](none.md)`\n\n```sh\n[x](none.md)\n```'],
  ['a sentence of 35 words', words(35)],
])('accepts %s', (_, text) => {
  expect(faultsOf(`${text}\n`)).toBe('');
});

it.each([
  ['a page that does not exist', '[x](none.md)', /none\.md leads to no file/],
  ['a heading that does not exist', '[x](other.md#nothing)', /other\.md has no heading "nothing"/],
  ['a sentence of 36 words', words(36), /more than 35 words/],
  ['a long README', 'x\n\n'.repeat(4001), /has 12004 bytes/],
])('reports %s', (_, text, fault) => {
  expect(faultsOf(`${text}\n`)).toMatch(fault);
});
