import { closeSync, openSync, readSync } from 'node:fs';

import { APPLICATION_ID, FIRST_VERSION, SCHEMA_STEPS } from './schema.js';

/** What begins every SQLite file. https://www.sqlite.org/fileformat2.html#the_database_header */
const MAGIC = 'SQLite format 3\0';

const USER_VERSION = 60;
const APPLICATION = 68;

/** Where the root page of `sqlite_schema` begins, the kind of a page without children, and where its rows are counted. */
const SCHEMA_PAGE = 100;
const LEAF = 13;
const ROWS = SCHEMA_PAGE + 3;
const HEADER = ROWS + 2;

/**
 * Refuses a file by its header alone, without SQLite: a connection, even one that only reads, would write back the log
 * that a killed program left. What the header does not tell yet (all is in that log) `migrate` finds.
 *
 * @throws Error naming the file where it is newer, too old, or of another program
 */
export function checkOwner(file: string): void {
  const header = readHeader(file);
  if (header === undefined) return;
  const version = header.readInt32BE(USER_VERSION);
  const application = header.readInt32BE(APPLICATION);
  const isEmpty = header[SCHEMA_PAGE] === LEAF && header.readUInt16BE(ROWS) === 0;
  if (application !== APPLICATION_ID && !(application === 0 && version === 0 && isEmpty)) throw foreign(file);
  if (application !== APPLICATION_ID) return;
  const known = FIRST_VERSION + SCHEMA_STEPS.length;
  if (version > known) throw newer(file, version, known);
  if (version > 0 && version < FIRST_VERSION) throw older(file, version);
}

/** A file that some other program made. */
export function foreign(file: string): Error {
  return new Error(`${file} is a SQLite file of another program`);
}

/** A file of a Kiln that has more steps of the schema than this one. */
export function newer(file: string, version: number, known: number): Error {
  return new Error(
    `${file} was written by a newer Kiln (its schema is version ${version}, this one knows ${known}); use that one`,
  );
}

/** Returns the error for a file of a Kiln before 0.1.0 that only the last of these migrates. */
export function older(file: string, version: number): Error {
  return new Error(
    `${file} was written by a Kiln before 0.1.0 (its schema is version ${version}, this one begins with ${FIRST_VERSION}); ` +
      'start the last one before 0.1.0 on it once, which migrates it',
  );
}

/** The beginning of a SQLite file; undefined for anything else, about which SQLite says what is wrong. */
function readHeader(file: string): Buffer | undefined {
  const header = Buffer.alloc(HEADER);
  try {
    const descriptor = openSync(file, 'r');
    try {
      if (readSync(descriptor, header, 0, HEADER, 0) < HEADER) return undefined;
    } finally {
      closeSync(descriptor);
    }
  } catch {
    return undefined;
  }
  return header.toString('latin1', 0, MAGIC.length) === MAGIC ? header : undefined;
}
