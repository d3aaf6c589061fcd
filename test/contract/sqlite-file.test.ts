import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

import { behaviour } from './behaviour/behaviour.js';
import { openStore } from './open-store.js';

/** A file with the schema and nothing else: each test gets a copy, because making the schema takes longer than most tests. */
const empty = await makeEmptyFile();

behaviour({
  name: 'a SQLite file',
  url(place) {
    const file = join(place, 'kiln.db');
    writeFileSync(file, empty, { mode: 0o600 });
    return `sqlite:${file}`;
  },
  isShared: true,
});

async function makeEmptyFile(): Promise<Buffer> {
  const place = mkdtempSync(join(tmpdir(), 'kiln-contract-'));
  const file = join(place, 'kiln.db');
  await (await openStore(`sqlite:${file}`)).close();
  const content = readFileSync(file);
  rmSync(place, { recursive: true });
  return content;
}
