import { existsSync, readFileSync } from 'node:fs';
import { describe, expect, it } from 'vitest';

import { ROOT } from './pages.js';

/** Pages whose tables name the test of each requirement. */
const PAGES = ['docs/exchange-requirements.md'];

/** A test that a page names: its file below `test/`, and its title. */
const NAMED = /`([\w./-]+\.ts)` › (.+?) *\|$/gm;

describe.each(PAGES)('%s', (page) => {
  const text = readFileSync(`${ROOT}${page}`, 'utf8');
  const rows = text
    .split('\n')
    .filter((line) => line.startsWith('|') && !/^\|[ -]*\||^\| (?:requirement|id) /.test(line));
  const named = [...text.matchAll(NAMED)].map(([, file = '', title = '']) => ({ file, title }));

  it('names a test in each row', () => {
    expect(rows.length).toBeGreaterThan(20);
    expect(rows.filter((row) => !/`[\w./-]+\.ts` › /.test(row))).toEqual([]);
  });

  it('names tests that are there', () => {
    const missing = named.filter(({ file, title }) => {
      const path = `${ROOT}test/${file}`;
      return !existsSync(path) || !readFileSync(path, 'utf8').includes(title);
    });
    expect(missing).toEqual([]);
  });
});
