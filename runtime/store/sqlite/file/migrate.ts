import type { Database } from 'better-sqlite3';

import { foreign, newer } from './check-owner.js';
import { APPLICATION_ID, SCHEMA_STEPS } from './schema.js';

/**
 * Brings the schema of a file to the version that this program knows: makes it in an empty file, migrates an older one.
 * Two processes may do so at once; the second finds it done.
 *
 * @throws Error naming the file where it is newer, or no file of ours
 */
export function migrate(db: Database, steps: readonly string[] = SCHEMA_STEPS): void {
  if (schemaVersion(db) === steps.length && isOurs(db)) return;
  db.transaction(() => {
    // Asked again: only now no other process migrates.
    const version = schemaVersion(db);
    if (!isOurs(db) && (version !== 0 || hasTables(db))) {
      throw foreign(db.name);
    }
    if (version > steps.length) throw newer(db.name, version, steps.length);
    for (const step of steps.slice(version)) db.exec(step);
    db.pragma(`application_id = ${APPLICATION_ID}`);
    db.pragma(`user_version = ${steps.length}`);
  }).immediate();
}

function schemaVersion(db: Database): number {
  return db.pragma('user_version', { simple: true }) as number;
}

function isOurs(db: Database): boolean {
  return db.pragma('application_id', { simple: true }) === APPLICATION_ID;
}

function hasTables(db: Database): boolean {
  return db.prepare('SELECT 1 FROM sqlite_schema LIMIT 1').get() !== undefined;
}
