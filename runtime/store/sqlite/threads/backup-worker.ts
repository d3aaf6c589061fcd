import Database from 'better-sqlite3';
import { parentPort, workerData } from 'node:worker_threads';

import { PAGE_SIZE } from '../file/page-size.js';
import { packError, type Answer, type Request } from './messages.js';

// Entry of the thread that copies a file. VACUUM INTO reads one snapshot, so that writers go on; SQLite's backup steps
// begin anew whenever another process writes, and might never end.

const port = parentPort!;
const { file } = workerData as { file: string };

function answer({ id, args }: Request): Answer {
  const db = new Database(file, { timeout: 10_000, fileMustExist: true });
  try {
    db.pragma('cache_size = -4096');
    db.pragma(`page_size = ${PAGE_SIZE}`);
    db.prepare('VACUUM INTO ?').run(args[0]);
    return { id, value: undefined };
  } catch (error) {
    return { id, failure: packError(error) };
  } finally {
    db.close();
  }
}

port.on('message', (request: Request) => {
  if (request.kind === 'close') port.close();
  else port.postMessage([answer(request)]);
});
