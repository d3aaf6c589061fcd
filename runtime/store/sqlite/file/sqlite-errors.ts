import { SqliteError } from 'better-sqlite3';

import { FhirError } from '../../../fhir/errors.js';

/** States of the disk or of other processes, by SQLite's result codes; other codes are defects of ours. */
const UNAVAILABLE = ['SQLITE_FULL', 'SQLITE_IOERR', 'SQLITE_READONLY', 'SQLITE_CANTOPEN', 'SQLITE_CORRUPT'];

/**
 * Tells a client what it can know of a failed store: busy (try again) or unavailable. Everything else passes unchanged.
 * https://www.sqlite.org/rescode.html
 */
export function translateSqliteError(error: unknown): unknown {
  if (!(error instanceof SqliteError)) return error;
  if (error.code.startsWith('SQLITE_BUSY'))
    return new FhirError('store-busy', undefined, { headers: { 'Retry-After': '1' } });
  if (UNAVAILABLE.some((code) => error.code.startsWith(code))) {
    return new FhirError('store-unavailable', undefined, { diagnostics: error.code });
  }
  return error;
}
