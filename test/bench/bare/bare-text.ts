import { Worker } from 'node:worker_threads';

import Database from 'better-sqlite3';

import type { Resource } from '../../../runtime/fhir/resource.js';
import type { BareAnswer, BareRequest } from './bare-search.js';

/** Full text of SQLite as one would have it by hand: a table of bodies in the order of ids, and an index of words. */
export interface BareText {
  /** A page of so many, and the total where it is at most 1,000. */
  run(match: string, count: number): Promise<BareAnswer>;
  close(): Promise<void>;
}

/** Makes the file, and the thread that runs queries. */
export function openBareText(file: string, resources: Iterable<Resource>, textOf: (one: Resource) => string): BareText {
  const db = new Database(file);
  db.pragma('journal_mode = WAL');
  db.pragma('synchronous = OFF');
  db.exec(`CREATE TABLE doc (key INTEGER PRIMARY KEY, id TEXT, body TEXT);
    CREATE VIRTUAL TABLE words USING fts5(text, content = '')`);
  const doc = db.prepare('INSERT INTO doc VALUES (?, ?, ?)');
  const words = db.prepare('INSERT INTO words (rowid, text) VALUES (?, ?)');
  db.transaction(() => {
    let key = 0;
    for (const resource of resources) {
      doc.run(++key, resource['id'], JSON.stringify(resource));
      words.run(key, textOf(resource));
    }
  })();
  db.pragma('wal_checkpoint(TRUNCATE)');
  db.close();
  const worker = new Worker(new URL('./bare-search-worker.js', import.meta.url), { workerData: { file } });
  // Answers come in the order of the requests.
  const waiting: ((answer: BareAnswer) => void)[] = [];
  worker.on('message', (answer: BareAnswer) => waiting.shift()?.(answer));
  return {
    run(match, count) {
      const request: BareRequest = {
        page: `SELECT id, body FROM words w JOIN doc ON key = w.rowid WHERE words MATCH ? ORDER BY w.rowid LIMIT ${count + 1}`,
        count: 'SELECT count(*) FROM (SELECT 1 FROM words WHERE words MATCH ? LIMIT 1001)',
        args: [match],
      };
      worker.postMessage(request);
      return new Promise((resolve) => waiting.push(resolve));
    },
    close: async () => void (await worker.terminate()),
  };
}
