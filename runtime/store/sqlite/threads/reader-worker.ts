import type { Database } from 'better-sqlite3';
import { setPriority } from 'node:os';
import { parentPort, workerData } from 'node:worker_threads';

import { openBlobReader } from '../write/blob-tables.js';
import { connect } from '../file/connect.js';
import { openDictionary } from '../write/dictionary.js';
import { openExplain } from '../query/explain.js';
import { openFinders } from '../query/find.js';
import type { FindMultiTypeQuery, FindQuery, LinePage, ResourceKey } from '../../store.js';
import { openQueryInterrupt, type QueryInterrupt } from '../file/query-interrupt.js';
import { openHistory } from '../read/history.js';
import { openMapReader } from '../read/maps.js';
import { packError, type Answer, type Request } from './messages.js';
import { openLogReader } from '../read/log.js';
import { openReader } from '../read/read.js';
import { packPage } from './packed-page.js';
import { openScan } from '../read/scan.js';
import type { ThreadSettings } from '../settings.js';

// Entry of a reader thread. One request at a time, on one snapshot.

const port = parentPort!;
const { settings, stop, isForLong } = workerData as {
  settings: ThreadSettings;
  stop: Int32Array;
  isForLong: boolean;
};

/** What is done with a connection, each on one snapshot. */
function openOperations(db: Database, interrupt: QueryInterrupt) {
  const dictionary = openDictionary(db);
  const reader = openReader(db, dictionary, interrupt);
  const { find, findMultiType, findLines, countBy } = openFinders(db, dictionary, interrupt);
  const maps = openMapReader(db);
  const blobs = openBlobReader(db);
  const log = openLogReader(db, interrupt);
  return {
    history: openHistory(db, dictionary, interrupt),
    find: (query: FindQuery) => packPage(find(query)),
    findMultiType: (query: FindMultiTypeQuery) => packPage(findMultiType(query)),
    findLines,
    countBy,
    explain: openExplain(db, interrupt, find),
    scan: openScan(db, interrupt),
    counts: reader.counts,
    readMany: (keys: readonly ResourceKey[]) => keys.map(({ type, id }) => reader.current(type, id)),
    readVersion: reader.version,
    mapEntry: maps.get,
    mapEntries: maps.entries,
    scanMaps: maps.scan,
    mapRange: maps.range,
    readLog: log.read,
    logPlaceAt: log.placeAt,
    findBlob: blobs.find,
    listBlobs: blobs.list,
    piece: blobs.piece,
    look: reader.look,
  };
}

type Operations = ReturnType<typeof openOperations>;

/** Operations of reader threads. Besides reading, they write the log back into the file, beside the writer. */
export type ReaderOperations = Operations & { checkpoint(): void };

// It may wait: no other thread does.
const { file, identity, isTemporary } = settings;
const db = connect(file, { cache: 8192, isTemporary, identity });
const interrupt = openQueryInterrupt(db, stop);
const operations = openOperations(db, interrupt);
const snapshot = db.transaction((kind: keyof Operations, args: readonly unknown[]) =>
  (operations[kind] as (...args: readonly unknown[]) => unknown)(...args),
);

/** Where there is more to do than cores, queries that take long get about half the time of everything else. */
const NICENESS = 3;

// Once it has started. Of this thread alone: elsewhere than on Linux it would be that of the process.
if (isForLong && process.platform === 'linux') setPriority(NICENESS);

function perform({ id, kind, args, budget }: Request): unknown {
  if (kind === 'checkpoint') return void db.pragma('wal_checkpoint(PASSIVE)');
  interrupt.begin(id, budget ?? Infinity);
  return snapshot.deferred(kind as 'look', args);
}

function answer(request: Request): Answer {
  try {
    return { id: request.id, value: perform(request) };
  } catch (error) {
    return { id: request.id, failure: packError(error) };
  }
}

/** The memory of an answer that goes to the other thread without a copy. */
function handedOn({ kind }: Request, answered: Answer): ArrayBuffer[] {
  if ((kind !== 'findLines' && kind !== 'piece') || !('value' in answered)) return [];
  const { value } = answered;
  const bytes = kind === 'piece' ? (value as Uint8Array | undefined) : (value as LinePage).lines;
  if (bytes === undefined) return [];
  const { buffer, byteLength } = bytes;
  // A small one may lie in memory that Node shares among several.
  return buffer.byteLength === byteLength ? [buffer as ArrayBuffer] : [];
}

port.on('message', (request: Request) => {
  if (request.kind === 'close') {
    db.close();
    port.close();
  } else {
    const answered = answer(request);
    port.postMessage([answered], handedOn(request, answered));
  }
});
