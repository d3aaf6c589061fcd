import type { Database } from 'better-sqlite3';

import { foreign, newer, older } from './check-owner.js';
import { APPLICATION_ID, FIRST_VERSION, SCHEMA, SCHEMA_STEPS } from './schema.js';

/**
 * Brings the schema of a file to the version that this program knows: makes it in an empty file, migrates an older one.
 * Two processes may do so at once; the second finds it done.
 *
 * @throws Error naming the file where it is newer, too old, or no file of ours
 */
export function migrate(db: Database, steps: readonly string[] = SCHEMA_STEPS): void {
  const known = FIRST_VERSION + steps.length;
  if (schemaVersion(db) === known && isOurs(db)) return;
  db.transaction(() => {
    // Asked again: only now no other process migrates.
    const version = schemaVersion(db);
    if (isOurs(db)) {
      if (version > known) throw newer(db.name, version, known);
      if (version < FIRST_VERSION) throw older(db.name, version);
    } else {
      if (version !== 0 || hasTables(db)) throw foreign(db.name);
      db.exec(SCHEMA);
    }
    for (const step of steps.slice(isOurs(db) ? version - FIRST_VERSION : 0)) db.exec(step);
    db.pragma(`application_id = ${APPLICATION_ID}`);
    db.pragma(`user_version = ${known}`);
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
