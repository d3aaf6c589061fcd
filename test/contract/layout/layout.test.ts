import Database from 'better-sqlite3';
import { mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { gunzipSync } from 'node:zlib';
import { describe, expect, it } from 'vitest';

import { answersOf } from './layout.js';

const here = new URL('./', import.meta.url).pathname;
const versions = readdirSync(here).filter((name) => /^\d+\.\d+\.\d+$/.test(name));

// A change of the layout adds a folder (`make.ts`) before it is made, and leaves these as they are.
describe.each(versions)('a SQLite file of Kiln %s', (version) => {
  it('is opened, and answers as it did', { timeout: 120_000 }, async () => {
    const folder = mkdtempSync(join(tmpdir(), 'kiln-layout-'));
    try {
      const file = join(folder, 'kiln.db');
      writeFileSync(file, gunzipSync(readFileSync(join(here, version, 'kiln.db.gz'))));
      expect(await answersOf(`sqlite:${file}`)).toEqual(
        JSON.parse(readFileSync(join(here, version, 'answers.json'), 'utf8')),
      );
      const db = new Database(file, { readonly: true });
      expect(db.pragma('integrity_check', { simple: true })).toBe('ok');
      db.close();
    } finally {
      rmSync(folder, { recursive: true });
    }
  });
});
