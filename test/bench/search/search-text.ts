import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

import { MongoClient } from 'mongodb';

import type { Resource } from '../../../runtime/fhir/resource.js';
import { readWords } from '../../../runtime/search/text/parse-words.js';
import { openMongoStore } from '../../../runtime/store/mongo/mongo-store.js';
import { openSqliteStore } from '../../../runtime/store/sqlite/sqlite-store.js';
import type { FindQuery, Store } from '../../../runtime/store/store.js';
import { withDatabase } from '../bare/bare-search-mongo.js';
import { openBareText } from '../bare/bare-text.js';
import { createRandom, type Random } from '../data/clinic.js';
import { inTurn } from '../measuring/in-turn.js';
import { load } from '../data/load-clinic.js';
import type { Bench, Row } from '../measuring/row.js';

const RESOURCES = 100_000;
const WORDS_EACH = 30;
const VOCABULARY = 20_000;
const ROUNDS = 60;
const PAGE = 20;

/** Words as frequent as in texts: few stand in most resources, most in few. */
const wordOf = (rank: number): string => `w${rank.toString(36)}`;
const drawn = (random: Random): string => wordOf(Math.floor(VOCABULARY * random() ** 4));

function* resources(): Generator<Resource> {
  const random = createRandom(3);
  for (let n = 0; n < RESOURCES; n++) {
    const text = Array.from({ length: WORDS_EACH }, () => drawn(random)).join(' ');
    yield { resourceType: 'Condition', id: `c${String(n).padStart(6, '0')}`, note: [{ text }] } as Resource;
  }
}

const textOf = (resource: Resource): string => (resource['note'] as unknown as [{ readonly text: string }])[0].text;
const common = (random: Random): string => wordOf(Math.floor(random() * 20));
const rare = (random: Random): string => wordOf(Math.floor(VOCABULARY / 2 + (random() * VOCABULARY) / 2));

/** What is asked, each as a client writes it; SQLite takes the same. */
const KINDS: Readonly<Record<string, (random: Random) => string>> = {
  'a rare word': rare,
  'a common word': common,
  'two common words': (random) => `${common(random)} AND ${common(random)}`,
  'a rare and a common word': (random) => `${common(random)} AND ${rare(random)}`,
  'a phrase of common words': (random) => `"${common(random)} ${common(random)}"`,
  'a phrase of a rare and a common word': (random) => `"${common(random)} ${rare(random)}"`,
};

/**
 * Full text over 100,000 resources through the store, against SQLite's own over the same words in a file made for it. With
 * `--store=mongodb://…` on a database of its own there.
 */
export const bench: Bench = async () => {
  const url = process.env['KILN_BENCH_STORE'];
  const folder = mkdtempSync(join(tmpdir(), 'kiln-bench-'));
  const database = `kiln_bench_text_${process.pid}`;
  const store: Store =
    url === undefined
      ? openSqliteStore(`sqlite:${join(folder, 'kiln.db')}`)
      : await openMongoStore(withDatabase(url, database), { slotOf: () => undefined });
  await load(store, resources());
  const bare = openBareText(join(folder, 'bare.db'), resources(), textOf);
  try {
    const rows: Row[] = [];
    for (const [name, draw] of Object.entries(KINDS)) {
      const random = createRandom(5);
      const asked = Array.from({ length: ROUNDS }, () => draw(random));
      for (const text of asked.slice(0, 10)) await checkSame(store, bare, text);
      const { measured, floor } = await inTurn(
        asked.map((text) => () => store.find(toQuery(text))),
        asked.map((text) => () => bare.run(text, PAGE)),
      );
      rows.push({
        name: `full text: ${name}`,
        unit: 'pages',
        measured,
        floor: { name: 'SQLite FTS5 by hand', measured: floor },
        goal: { times: 3 },
      });
    }
    return rows;
  } finally {
    await bare.close();
    await store.close();
    if (url !== undefined) await drop(url, database);
    rmSync(folder, { recursive: true });
  }
};

async function drop(url: string, database: string): Promise<void> {
  const client = new MongoClient(url);
  await client.db(database).dropDatabase();
  await client.close();
}

function toQuery(text: string): FindQuery {
  const where = { param: '_content', words: readWords(text) };
  return { type: 'Condition', where, sort: [], count: PAGE, total: 'cheap' };
}

async function checkSame(store: Store, bare: ReturnType<typeof openBareText>, text: string): Promise<void> {
  const { versions } = await store.find(toQuery(text));
  const { rows } = await bare.run(text, PAGE);
  const [ours, theirs] = [versions.map(({ id }) => id).join(), rows.slice(0, PAGE).map(({ id }) => id).join()]; // prettier-ignore
  if (ours !== theirs) throw new Error(`${text} finds ${ours}, and by hand ${theirs}`);
}
