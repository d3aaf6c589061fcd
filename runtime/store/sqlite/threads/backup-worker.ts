import Database from 'better-sqlite3';
import { parentPort, workerData } from 'node:worker_threads';

import { SUBSCRIPTION_MAPS } from '../../system-maps.js';
import { PAGE_SIZE } from '../file/block-size.js';
import { packError, type Answer, type Request } from './messages.js';

// Entry of the thread that copies a file. VACUUM INTO reads one snapshot, so that writers go on; SQLite's backup steps
// begin anew whenever another process writes, and might never end.

const port = parentPort!;
const { file } = workerData as { file: string };

/** Two servers must not feed one receiver: what is restored begins without deliveries. */
function withoutDeliveries(copy: string): void {
  const db = new Database(copy);
  try {
    db.prepare('DELETE FROM map_entry WHERE map >= ? AND map < ?').run(SUBSCRIPTION_MAPS, `${SUBSCRIPTION_MAPS}\uffff`);
  } finally {
    db.close();
  }
}

function copy({ id, args }: Request): Answer {
  const db = new Database(file, { timeout: 10_000, fileMustExist: true });
  try {
    db.pragma('cache_size = -4096');
    db.pragma(`page_size = ${PAGE_SIZE}`);
    db.prepare('VACUUM INTO ?').run(args[0]);
    withoutDeliveries(args[0] as string);
    return { id, value: undefined };
  } catch (error) {
    return { id, failure: packError(error) };
  } finally {
    db.close();
  }
}

/** What SQLite finds wrong with the file. */
function check({ id }: Request): Answer {
  let db: Database.Database | undefined;
  try {
    db = new Database(file, { timeout: 10_000, fileMustExist: true });
    const found = db.pragma(`integrity_check(${MOST})`) as { integrity_check: string }[];
    const faults = found.map((row) => row.integrity_check).filter((text) => text !== 'ok');
    return { id, value: faults };
  } catch (error) {
    if (!(error instanceof Database.SqliteError)) return { id, failure: packError(error) };
    return { id, value: [error.message] };
  } finally {
    db?.close();
  }
}

/** Faults that are looked for. */
const MOST = 3;

port.on('message', (request: Request) => {
  if (request.kind === 'close') port.close();
  else port.postMessage([request.kind === 'check' ? check(request) : copy(request)]);
});
