import Database from 'better-sqlite3';

import type { Resource } from '../../../runtime/fhir/resource.js';
import { COLUMNS, COUNTED, INDEXES, PAGE, toColumns, type ByHand } from './by-hand.js';
import { openSameRows } from './sqlite-same-rows.js';

const TYPES = ['Patient', 'Encounter', 'Condition', 'MedicationRequest', 'Observation'] as const;
const MORE = PAGE + 1;

/** On a file of SQLite, in this thread; each write is a transaction that reaches the disk. */
export function openSqliteByHand(file: string): ByHand {
  const sameKeys = openSameRows(`${file}-same`);
  const db = new Database(file);
  db.pragma('journal_mode = WAL');
  db.pragma('synchronous = FULL');
  db.pragma('cache_size = -16384');
  for (const type of TYPES) {
    db.exec(`CREATE TABLE ${type} (id TEXT PRIMARY KEY, version, updated, body TEXT, ${COLUMNS.join(', ')})`);
    for (const [n, index] of (INDEXES[type] ?? []).entries()) {
      const keys = index.map(([column, order]) => `${column} ${order === 1 ? 'ASC' : 'DESC'}`);
      db.exec(`CREATE INDEX ${type}_${n} ON ${type} (${keys.join(', ')})`);
    }
  }
  db.exec(`CREATE TABLE versions (seq INTEGER PRIMARY KEY, type TEXT, updated, body TEXT)`);
  db.exec(`CREATE INDEX versions_by_type ON versions (type, seq)`);

  const statements = new Map<string, Database.Statement>();
  const prepared = (sql: string): Database.Statement => {
    let statement = statements.get(sql);
    if (statement === undefined) statements.set(sql, (statement = db.prepare(sql)));
    return statement;
  };
  const rows = (sql: string, ...args: unknown[]): unknown[] => prepared(sql).all(...args);
  const total = (from: string, ...args: unknown[]): unknown[] =>
    rows(`SELECT count(*) FROM (SELECT 1 FROM ${from} LIMIT ${COUNTED + 1})`, ...args);

  const insert = (resource: Resource): void => {
    const { resourceType, id } = resource;
    const [columns, body, now] = [toColumns(resource), JSON.stringify(resource), Date.now()];
    const values = COLUMNS.map((column) => columns[column] ?? null);
    prepared(`INSERT INTO ${resourceType} VALUES (?, 1, ?, ?${', ?'.repeat(COLUMNS.length)})`).run(
      id,
      now,
      body,
      ...values,
    );
  };
  const keep = ({ resourceType, id }: Resource): unknown =>
    prepared(
      `INSERT INTO versions (type, updated, body) SELECT '${resourceType}', updated, body FROM ${resourceType} WHERE id = ?`,
    ).run(id);
  const replace = (resource: Resource, version: number, keeps: boolean): void => {
    const { resourceType, id } = resource;
    const [columns, body, now] = [toColumns(resource), JSON.stringify(resource), Date.now()];
    if (keeps) keep(resource);
    const assigned = COLUMNS.map((column) => `${column} = ?`).join(', ');
    const { changes } = prepared(
      `UPDATE ${resourceType} SET version = ?, updated = ?, body = ?, ${assigned} WHERE id = ? AND version = ?`,
    ).run(version + 1, now, body, ...COLUMNS.map((column) => columns[column] ?? null), id, version);
    if (changes !== 1) throw new Error(`no version ${version} of ${resourceType}/${String(id)}`);
  };
  const writeAll = db.transaction((resources: readonly Resource[]) => resources.forEach(insert));
  const fillAll = db.transaction((resources: readonly Resource[]) => {
    resources.forEach(insert);
    resources.forEach(keep);
  });
  const writeOne = db.transaction(insert);
  const replaceOne = db.transaction(replace);

  const chain = `Patient p CROSS JOIN Encounter e ON e.patient = p.id CROSS JOIN Observation o ON o.encounter = e.id WHERE p.mrn = ?`;
  return {
    async fill(resources) {
      for (let from = 0; from < resources.length; from += 1000) fillAll(resources.slice(from, from + 1000));
      db.exec('ANALYZE');
      sameKeys.fill(resources);
    },
    sameKeys,
    create: async (resource) => writeOne(resource),
    transaction: async (resources) => writeAll(resources),
    update: async (resource, version) => replaceOne(resource, version, true),
    replace: async (resource, version) => replaceOne(resource, version, false),
    read: async (type, id) => rows(`SELECT version, updated, body FROM ${type} WHERE id = ?`, id),
    find: async (type, column, value) => [
      rows(`SELECT id, body FROM ${type} WHERE ${column} = ? ORDER BY id LIMIT ${MORE}`, value),
      total(`${type} WHERE ${column} = ?`, value),
    ],
    async quantity(...args) {
      const where = 'Observation WHERE code = ? AND unit = ? AND value > ?';
      return [rows(`SELECT id, body FROM ${where} ORDER BY id LIMIT ${MORE}`, ...args), total(where, ...args)];
    },
    chain: async (mrn) => [
      rows(`SELECT o.id, o.body FROM ${chain} ORDER BY o.id LIMIT ${MORE}`, mrn),
      total(chain, mrn),
    ],
    include: async (code) => [
      rows(
        `WITH page AS MATERIALIZED (SELECT id, body, patient FROM Observation WHERE code = ? ORDER BY id LIMIT ${MORE})
         SELECT id, body FROM page UNION ALL SELECT id, body FROM Patient WHERE id IN (SELECT patient FROM page)`,
        code,
      ),
      total('Observation WHERE code = ?', code),
    ],
    count: async (status) => rows('SELECT count(*) FROM Observation WHERE status = ?', status),
    history: async (type) =>
      type === undefined
        ? [rows(`SELECT * FROM versions ORDER BY seq DESC LIMIT ${MORE}`), rows('SELECT count(*) FROM versions')]
        : [
            rows(`SELECT * FROM versions WHERE type = ? ORDER BY seq DESC LIMIT ${MORE}`, type),
            rows('SELECT count(*) FROM versions WHERE type = ?', type),
          ],
    async pagesByDate(code, pages) {
      let before = '9';
      for (let page = 0; page < pages; page++) {
        const found = rows(
          `SELECT effective, body FROM Observation WHERE code = ? AND effective < ? ORDER BY effective DESC, id LIMIT ${MORE}`,
          code,
          before,
        ) as { effective: string }[];
        before = found.at(-1)?.effective ?? '';
      }
    },
    cpu: async () => 0,
    async close() {
      db.close();
      sameKeys.close();
    },
  };
}
