import { once } from 'node:events';
import { Worker } from 'node:worker_threads';

import Database from 'better-sqlite3';

import type { Resource } from '../../runtime/fhir/resource.js';
import { fold } from '../../runtime/search/values/fold.js';

/** A query written by hand: a page, and the total where it is at most 1,000. */
export interface BareRequest {
  readonly page: string;
  readonly count: string;
  readonly args: readonly unknown[];
}

/** What it finds. */
export interface BareAnswer {
  readonly rows: readonly { readonly id: string; readonly body: string }[];
  readonly total: number;
}

/** Reads a column's value off a resource. */
type Read = (resource: Resource) => string | number;

/** The value at a path of names and positions, converted. */
function at(path: string, convert: (value: string) => string | number = (value) => value): Read {
  return (resource) => {
    let value: unknown = resource;
    for (const step of path.split('.')) value = (value as Record<string, unknown>)[step];
    return convert(value as string);
  };
}

/** Columns of each type that queries need. */
const COLUMNS: Readonly<Record<string, Readonly<Record<string, Read>>>> = {
  Patient: { mrn: at('identifier.0.value'), family: at('name.0.family', fold), birth: at('birthDate') },
  Observation: {
    code: at('code.coding.0.code'),
    status: at('status'),
    patient: at('subject.reference'),
    effective: at('effectiveDateTime', Date.parse),
    unit: at('valueQuantity.code'),
    value: at('valueQuantity.value'),
  },
};

/** Indexes, each for one of the queries. */
const INDEXES: Readonly<Record<string, readonly string[]>> = {
  Patient: ['mrn, id', 'family, id', 'birth, id'],
  Observation: [
    'code, id',
    'status, id',
    'patient, id',
    'patient, code, id',
    'patient, effective DESC, id',
    'effective, id',
    'code, unit, value, id',
    'unit, value, id',
  ],
};

/** A file with a table for each type, its columns what queries ask for, and the thread that runs them. */
export async function openBareSearch(file: string, resources: Iterable<Resource>) {
  fill(file, resources);
  const worker = new Worker(new URL('./bare-search-worker.js', import.meta.url), { workerData: { file } });
  return {
    async run(request: BareRequest): Promise<BareAnswer> {
      const answer = once(worker, 'message');
      worker.postMessage(request);
      return ((await answer) as [BareAnswer])[0];
    },
    close: async () => void (await worker.terminate()),
  };
}

function fill(file: string, resources: Iterable<Resource>): void {
  const db = new Database(file);
  db.pragma('journal_mode = WAL');
  db.pragma('synchronous = OFF');
  const inserts = new Map<string, (resource: Resource) => void>();
  for (const [type, columns] of Object.entries(COLUMNS)) {
    const names = Object.keys(columns);
    db.exec(`CREATE TABLE ${type} (id TEXT PRIMARY KEY, body TEXT, ${names.join(', ')})`);
    for (const [n, index] of (INDEXES[type] ?? []).entries())
      db.exec(`CREATE INDEX ${type}_${n} ON ${type} (${index})`);
    const insert = db.prepare(`INSERT INTO ${type} VALUES (?, ?${', ?'.repeat(names.length)})`);
    inserts.set(type, (resource) => {
      insert.run(resource['id'], JSON.stringify(resource), ...Object.values(columns).map((read) => read(resource)));
    });
  }
  db.transaction(() => {
    for (const resource of resources) inserts.get(resource.resourceType)?.(resource);
  })();
  db.exec('ANALYZE');
  db.pragma('wal_checkpoint(TRUNCATE)');
  db.close();
}
