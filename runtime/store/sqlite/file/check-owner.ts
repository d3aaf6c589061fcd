import { closeSync, openSync, readSync } from 'node:fs';

import { APPLICATION_ID, SCHEMA_STEPS } from './schema.js';

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
 * @throws Error naming the file where it is newer, or of another program
 */
export function checkOwner(file: string): void {
  const header = readHeader(file);
  if (header === undefined) return;
  const version = header.readInt32BE(USER_VERSION);
  const application = header.readInt32BE(APPLICATION);
  const isEmpty = header[SCHEMA_PAGE] === LEAF && header.readUInt16BE(ROWS) === 0;
  if (application !== APPLICATION_ID && !(application === 0 && version === 0 && isEmpty)) throw foreign(file);
  if (application === APPLICATION_ID && version > SCHEMA_STEPS.length) throw newer(file, version, SCHEMA_STEPS.length);
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
