import { SqliteError } from 'better-sqlite3';

import { describeError, FhirError } from '../../fhir/errors.js';
import { yieldInLongTurn } from '../../fhir/yield-to-event-loop.js';
import { stampBody } from '../body.js';
import { sizeOf } from '../change-pieces.js';
import { errorOfReferences, ReferencesBroken } from '../references.js';
import type { LoggedVersion } from '../version-log.js';
import {
  PreconditionConflict,
  StepConflict,
  type Change,
  type MapStep,
  type Precondition,
  type Store,
  type StoredVersion,
} from '../store.js';
import { openBlobs } from './read/blobs.js';
import { connect } from './file/connect.js';
import { openDictionary } from './write/dictionary.js';
import { openInlineSearch } from './query/inline-search.js';
import { identify, markInUse, whyAnother } from './file/file-identity.js';
import { locate } from './file/location.js';
import { openFileLog, openLogReader } from './read/log.js';
import { openMapReader } from './read/maps.js';
import { openReader } from './read/read.js';
import { unpackPage } from './threads/packed-page.js';
import { openReaderPool } from './threads/reader-pool.js';
import { toThreadSettings, type SqliteOptions } from './settings.js';
import { translateSqliteError } from './file/sqlite-errors.js';
import { startWorker } from './threads/start-thread.js';
import { openThread } from './threads/thread.js';
import { isTooCostly } from './file/too-costly.js';
import { openWriteSender } from './threads/send-write.js';
import { withoutPassedTypes } from '../multi-type-search.js';
import type { Stamp } from './write/write.js';
import type { WriterOperations } from './threads/writer-worker.js';

/** More keys than this are read by a thread, in milliseconds' time. */
const MANY = 100;

/** More versions of the log than these are read by a thread, at once. */
const SHORT_LOG = 200;

/** How long `check` waits for its answers. */
const CHECK_BUDGET = 3000;

/** What a probe writes beyond the text that failed, for its index entries, and at most, in bytes. */
const PROBE_MARGIN = 256 * 1024;
const MAX_PROBE = 8 * 1024 * 1024;

/**
 * The embedded store. Point reads and short searches run on the caller's thread, everything else that reads on a pool of
 * threads, and everything that writes on one other.
 *
 * @param url `sqlite:PATH` or `sqlite::memory:`
 * @throws Error where the file cannot be opened, is newer, or belongs to another program
 */
export function openSqliteStore(url: string, options: SqliteOptions = {}): Store {
  const { file, isTemporary, dispose } = locate(url);
  const db = connect(file, { cache: 8192, timeout: 0, queryOnly: true, isTemporary });
  const identity = identify(file);
  if (identity === undefined) {
    db.close();
    throw new Error(`${file} was deleted while it was opened`);
  }
  const free = markInUse(identity);
  const reader = openReader(db, openDictionary(db));
  const mapReader = openMapReader(db);
  const snapshot = db.transaction((action: () => unknown) => action());
  const settings = toThreadSettings({ file, identity, isTemporary }, options);
  const now = (): number => options.now?.() ?? Date.now();

  const queries = openReaderPool(settings.readers, settings);
  const short = openInlineSearch(settings);
  // Downloads and the upkeep of the log wait for no slow query.
  const files = openReaderPool(1, settings);
  let isCheckpointing = false;
  const writer = openThread<WriterOperations>(() => startWorker('writer-worker', settings), checkpoint);
  const sender = openWriteSender(writer);
  const shortLog = openLogReader(db);
  const log = openFileLog(() => reader.lastSeq(), {
    read(after, limit) {
      const elsewhere = (): Promise<readonly LoggedVersion[] | undefined> => queries.run('readLog', [after, limit]);
      const here = (): unknown => snapshot(() => shortLog.read(after, limit));
      return limit > SHORT_LOG ? elsewhere() : point(here as () => readonly LoggedVersion[] | undefined, elsewhere);
    },
    placeAt: (instant) => queries.run('logPlaceAt', [instant]),
  });
  /** Size of the write that failed last, in characters, as long as none has succeeded since. */
  let failed: number | undefined;

  function checkpoint(): void {
    if (isCheckpointing) return;
    isCheckpointing = true;
    files
      .run('checkpoint', [], { budget: 600_000 })
      .catch(() => {})
      .finally(() => (isCheckpointing = false));
  }

  const yieldIfLong = yieldInLongTurn();

  /** A point read here; where that would have to wait for a lock (after the crash of another process), on a thread. */
  async function point<T>(here: () => T, elsewhere: () => Promise<T>): Promise<T> {
    await yieldIfLong();
    try {
      return here();
    } catch (error) {
      if (error instanceof SqliteError && error.code.startsWith('SQLITE_BUSY')) return elsewhere();
      throw translateSqliteError(error);
    }
  }

  async function write(
    changes: readonly Change[],
    preconditions: readonly Precondition[] = [],
    steps: readonly MapStep[] = [],
  ): Promise<StoredVersion[]> {
    if (changes.length === 0 && preconditions.length === 0 && steps.length === 0) return [];
    try {
      const written = await sender.send(changes, preconditions, options.now?.(), steps);
      failed = undefined;
      if ('isStepRefused' in written) throw new StepConflict();
      if ('broken' in written) throw new PreconditionConflict(preconditions[written.broken]!);
      log.wrote();
      return changes.map((change, i) => toVersion(change, written.stamps[i]!));
    } catch (error) {
      if (error instanceof ReferencesBroken) throw errorOfReferences(changes, error.broken);
      if (error instanceof FhirError && !isTooCostly(error))
        failed = changes.reduce((sum, change) => sum + sizeOf(change), 0);
      throw error;
    }
  }

  /** Writes as much as failed, for good: a small change may still fit on a disk that is full for all others. */
  async function probe(size: number): Promise<void> {
    const blob = await writer.request('beginBlob', []);
    try {
      await writer.request('addPiece', [blob, 0, new Uint8Array(Math.min(size + PROBE_MARGIN, MAX_PROBE))]);
    } finally {
      await writer.request('dropBlob', [blob]);
    }
  }

  const readOne = async (type: string, id: string): Promise<StoredVersion | undefined> =>
    (await queries.run('readMany', [[{ type, id }]]))[0];

  return {
    read: (type, id) =>
      point(
        () => reader.current(type, id),
        () => readOne(type, id),
      ),
    readMany(keys) {
      const elsewhere = (): Promise<(StoredVersion | undefined)[]> => queries.run('readMany', [keys]);
      if (keys.length > MANY) return elsewhere();
      const here = (): unknown => snapshot(() => keys.map(({ type, id }) => reader.current(type, id)));
      return point(here as () => (StoredVersion | undefined)[], elsewhere);
    },
    readVersion: (type, id, version) =>
      point(
        () => reader.version(type, id, version),
        () => queries.run('readVersion', [type, id, version]),
      ),
    scan: (after, limit) => queries.run('scan', [after, limit]),
    async find(query, signal) {
      signal?.throwIfAborted();
      await yieldIfLong();
      const here = queries.isLikeLong(query) ? undefined : short.find(query);
      return here ?? unpackPage(await queries.run('find', [query], { signal, query }));
    },
    async findMultiType(query, signal) {
      signal?.throwIfAborted();
      await yieldIfLong();
      const here = queries.isLikeLong(query) ? undefined : short.findMultiType(query);
      return here ?? unpackPage(await queries.run('findMultiType', [withoutPassedTypes(query)], { signal, query }));
    },
    findLines: (query, until, signal) => queries.run('findLines', [query, until], { signal, query }),
    countBy: (query, signal) => queries.run('countBy', [query], { signal, query }),
    explain: (query, signal) => queries.run('explain', [query], { signal }),
    reindex: (items) => (items.length === 0 ? Promise.resolve(0) : writer.request('reindex', [items])),
    amend: ({ content: _content, ...plain }) => writer.request('amend', [plain]),
    expunge: (expunge) => writer.request('expunge', [expunge]),
    history: (query, signal) => queries.run('history', [query], { signal }),
    write,
    async restore(versions) {
      const count = await writer.request('restore', [versions.map(({ content: _content, ...plain }) => plain)]);
      log.wrote();
      return count;
    },
    log,
    async counts() {
      // The first start of a server needs no thread for that.
      const isEmpty = await point(
        () => !reader.look(),
        () => Promise.resolve(false),
      );
      return isEmpty ? new Map() : queries.run('counts', []);
    },
    blobs: openBlobs(writer, files, options.now),
    maps: {
      get: (map, key) =>
        point(
          () => mapReader.get(map, key, now()),
          () => queries.run('mapEntry', [map, key, now()]),
        ),
      scan: (after, limit) => queries.run('scanMaps', [after, limit, now()]),
      entries: (map) => queries.run('mapEntries', [map, now()]),
      swap: (map, key, expected, value, expires) =>
        writer.request('swap', [map, key, expected, value, expires, options.now?.()]),
      swapAll: (steps) =>
        steps.length === 0 ? Promise.resolve(true) : writer.request('swapAll', [steps, options.now?.()]),
      range: (map, after, limit) => queries.run('mapRange', [map, after, limit, now()]),
      delete: (map, key) => writer.request('deleteEntry', [map, key]),
    },
    async check() {
      try {
        const fault = whyAnother(file, identity);
        if (fault !== undefined) return { ok: false, detail: fault };
        await queries.run('look', [], { budget: CHECK_BUDGET });
        // Only a write can tell whether writing works again.
        if (failed !== undefined) await probe(failed);
        failed = undefined;
        return { ok: true };
      } catch (error) {
        return { ok: false, detail: describeError(error) };
      }
    },
    async close() {
      log.close();
      await sender.sent();
      await Promise.all([queries.close(), files.close(), writer.close()]);
      short.close();
      db.close();
      free();
      dispose();
    },
  };
}

/** What the writer has stored, without having it sent back. */
function toVersion({ type, id, body }: Change, { version, lastUpdated }: Stamp): StoredVersion {
  const stored = { type, id, version, lastUpdated };
  return body === undefined ? stored : { ...stored, json: stampBody(body, version, lastUpdated) };
}
