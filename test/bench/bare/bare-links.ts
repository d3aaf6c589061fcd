import { Worker } from 'node:worker_threads';

import Database from 'better-sqlite3';

import type { Resource } from '../../../runtime/fhir/resource.js';
import type { BareAnswer, BareRequest } from './bare-search.js';
import type { LinkCase, LinkName } from '../data/link-cases.js';
import { LINK_TABLES } from './link-tables.js';

/** Searches by hand that link resources, on tables made for them. */
export interface BareLinks {
  /** A page of so many with what comes with it, and the total where it is at most 1,000. */
  run(name: LinkName, search: LinkCase, count: number): Promise<BareAnswer>;
  close(): Promise<void>;
}

const HAS = `SELECT patient FROM Observation WHERE code = '8480-6' AND unit = 'mm[Hg]' AND value > ?`;
const CHAIN = `Patient p CROSS JOIN Observation o ON o.patient = p.id WHERE p.mrn = ?`;
const CHAINS = `Patient p CROSS JOIN Encounter e ON e.patient = p.id CROSS JOIN Observation o ON o.encounter = e.id WHERE p.mrn = ?`;

/** Pages of 21, so that it shows whether there are more, and totals up to 1,000. */
const QUERIES: Readonly<Record<LinkName, { readonly page: string; readonly count: string }>> = {
  chain: {
    page: `SELECT o.id, o.body FROM ${CHAIN} ORDER BY o.id LIMIT 21`,
    count: `SELECT count(*) FROM (SELECT 1 FROM ${CHAIN} LIMIT 1001)`,
  },
  'chain of two': {
    page: `SELECT o.id, o.body FROM ${CHAINS} ORDER BY o.id LIMIT 21`,
    count: `SELECT count(*) FROM (SELECT 1 FROM ${CHAINS} LIMIT 1001)`,
  },
  _has: {
    page: `SELECT id, body FROM Patient WHERE id IN (${HAS}) ORDER BY id LIMIT 21`,
    count: `SELECT count(*) FROM (SELECT DISTINCT patient FROM (${HAS}) LIMIT 1001)`,
  },
  _include: {
    page: `WITH page AS MATERIALIZED (SELECT id, body, patient FROM Observation WHERE code = ? ORDER BY id LIMIT 21)
      SELECT id, body FROM page
      UNION ALL SELECT id, body FROM Patient WHERE id IN (SELECT patient FROM page)`,
    count: 'SELECT count(*) FROM (SELECT 1 FROM Observation WHERE code = ? LIMIT 1001)',
  },
  '_revinclude, iterated': {
    page: `WITH page AS MATERIALIZED (SELECT id, body FROM Patient WHERE mrn = ?),
        visit AS MATERIALIZED (SELECT e.id, e.body FROM page p CROSS JOIN Encounter e ON e.patient = p.id)
      SELECT id, body FROM page UNION ALL SELECT id, body FROM visit
      UNION ALL SELECT c.id, c.body FROM visit v CROSS JOIN Condition c ON c.encounter = v.id`,
    count: 'SELECT count(*) FROM (SELECT 1 FROM Patient WHERE mrn = ? LIMIT 1001)',
  },
  compartment: {
    page: 'SELECT id, body FROM Observation WHERE patient = ? AND code = ? ORDER BY id LIMIT 21',
    count: 'SELECT count(*) FROM (SELECT 1 FROM Observation WHERE patient = ? AND code = ? LIMIT 1001)',
  },
  'system search': {
    page: `SELECT id, body FROM (
        SELECT * FROM (SELECT id, body, updated FROM Patient ORDER BY updated DESC, id LIMIT 21)
        UNION ALL SELECT * FROM (SELECT id, body, updated FROM Encounter ORDER BY updated DESC, id LIMIT 21)
      ) ORDER BY updated DESC, id LIMIT 21`,
    count: 'SELECT count(*) FROM (SELECT 1 FROM Patient UNION ALL SELECT 1 FROM Encounter LIMIT 1001)',
  },
};

/** On a file of SQLite, by a thread. */
export async function openBareLinks(file: string, resources: Iterable<Resource>): Promise<BareLinks> {
  fill(file, resources);
  const worker = new Worker(new URL('./bare-search-worker.js', import.meta.url), { workerData: { file } });
  // Answers come in the order of the requests.
  const waiting: ((answer: BareAnswer) => void)[] = [];
  worker.on('message', (answer: BareAnswer) => waiting.shift()?.(answer));
  return {
    run(name, { values }) {
      const request: BareRequest = { ...QUERIES[name], args: values };
      worker.postMessage(request);
      return new Promise((resolve) => waiting.push(resolve));
    },
    close: async () => void (await worker.terminate()),
  };
}

function fill(file: string, resources: Iterable<Resource>): void {
  const db = new Database(file);
  db.pragma('journal_mode = WAL');
  db.pragma('synchronous = OFF');
  const inserts = new Map<string, (resource: Resource, serial: number) => void>();
  for (const [type, { columns, indexes }] of Object.entries(LINK_TABLES)) {
    const names = Object.keys(columns);
    db.exec(`CREATE TABLE ${type} (id TEXT PRIMARY KEY, body TEXT, ${names.join(', ')})`);
    for (const [n, index] of indexes.entries()) db.exec(`CREATE INDEX ${type}_${n} ON ${type} (${index.join()})`);
    const insert = db.prepare(`INSERT INTO ${type} VALUES (?, ?${', ?'.repeat(names.length)})`);
    inserts.set(type, (resource, serial) => {
      const values = Object.values(columns).map((read) => read(resource, serial));
      insert.run(resource['id'], JSON.stringify(resource), ...values);
    });
  }
  let serial = 0;
  db.transaction(() => {
    for (const resource of resources) {
      inserts.get(resource.resourceType)?.(resource, serial);
      serial++;
    }
  })();
  db.exec('ANALYZE');
  db.pragma('wal_checkpoint(TRUNCATE)');
  db.close();
}
