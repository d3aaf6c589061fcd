import { parentPort, receiveMessageOnPort, workerData } from 'node:worker_threads';

import { FhirError } from '../../fhir/errors.js';
import { collectWhenIdle } from '../../observe/collect-when-idle.js';
import { openVersionAppender } from './append-version.js';
import { openBlobWriter } from './blob-tables.js';
import { openGuardCheck } from './check-guards.js';
import { connect } from './connect.js';
import { openDictionary } from './dictionary.js';
import { whyAnother } from './file-identity.js';
import { openFault } from './fault.js';
import { openGroups } from './group.js';
import { openLogKeeper } from './log-keeper.js';
import { openMapWriter } from './maps.js';
import type { Answer, Request } from './messages.js';
import { openReindexer } from './reindex.js';
import { openRestorer } from './restore.js';
import type { ThreadSettings } from './settings.js';
import { openStatistics } from './statistics.js';
import { openWriteClock, type ClockMark } from './clock.js';
import { openWriteLock } from './write-lock.js';
import type { WriterOperations } from './writer-operations.js';
import { openWriter } from './write.js';

// Entry of the writer thread, the only one of the process that changes data. What came in while a commit was under way
// goes into the next one together; whoever writes alone waits for nobody.

/** Bounds of a group, so that other processes get the lock too. */
const MAX_GROUP = 200;

const port = parentPort!;
const settings = workerData as ThreadSettings;
const { file, identity, isTemporary, lockWait, blobGrace, cleanInterval } = settings;
const db = connect(file, { cache: 16_384, timeout: 0, isTemporary, identity });
if (settings.maxPages !== undefined) db.pragma(`max_page_count = ${settings.maxPages}`);

const fault = openFault(settings.faultAt, settings.faultAfter);
const dictionary = openDictionary(db);
const clock = openWriteClock(db);
const versions = openVersionAppender(db, dictionary, fault);
const write = openWriter(versions, dictionary, clock);
const findBroken = openGuardCheck(db, dictionary, settings.guardBudget);
const restore = openRestorer(db, versions, dictionary, clock);
const lock = openWriteLock(db, lockWait);
const maps = openMapWriter(db);
const blobs = openBlobWriter(db);
const log = openLogKeeper(db);
const statistics = openStatistics(db);

const operations: WriterOperations & { clean(): boolean } = {
  write(changes, _now, guards = []) {
    const broken = findBroken(guards);
    if (broken !== undefined) return { broken };
    fault('guards');
    return { stamps: write(changes) };
  },
  restore,
  reindex: openReindexer(db, dictionary),
  swap: (map, key, expected, value, expires, now = Date.now()) => maps.swap(map, key, expected, value, expires, now),
  deleteEntry: (map, key) => maps.delete(map, key),
  beginBlob: () => blobs.begin(Date.now()),
  addPiece(blob, n, bytes) {
    blobs.piece(blob, n, bytes, Date.now());
    fault('piece');
  },
  finishBlob: (blob, key, size, sha256, now = Date.now()) => blobs.finish(blob, key, size, sha256, now),
  dropBlob: (blob) => blobs.drop(blob),
  deleteBlob: (key) => blobs.delete(key, Date.now()),
  clean() {
    const more = maps.clean(Date.now());
    return blobs.clean(Date.now() - blobGrace) || more;
  },
};
const perform = operations as unknown as Record<string, (...args: readonly unknown[]) => unknown>;

const commitGroup = openGroups(db, {
  begin(group) {
    const diagnostics = whyAnother(file, identity);
    if (diagnostics !== undefined) throw new FhirError('store-unavailable', undefined, { diagnostics });
    const given = group.find(({ kind }) => kind === 'write')?.args[1] as number | undefined;
    if (given === undefined) clock.waitForTime();
    lock.begin();
    clock.begin(given);
    fault('begin');
  },
  beforeCommit() {
    clock.save();
    fault('commit');
  },
  afterCommit() {
    lock.ended();
    fault('committed');
  },
  undone(mark) {
    dictionary.reset();
    if (mark !== undefined) clock.restore(mark as ClockMark);
  },
  mark: () => clock.mark(),
  perform: ({ kind, args }) => perform[kind]!(...args),
});

/** Told to the main thread beside the answers. */
function news(isWorthCheckpoint: boolean, hasStatistics: boolean): Answer[] {
  const told = [...(isWorthCheckpoint ? ['checkpoint'] : []), ...(hasStatistics ? ['reopen'] : [])];
  return told.map((value) => ({ id: 0, value }));
}

function serve(first: Request): void {
  let next: Request | undefined = first;
  const group: Request[] = [];
  while (next !== undefined && next.kind !== 'close') {
    group.push(next);
    next = group.length < MAX_GROUP ? (receiveMessageOnPort(port)?.message as Request | undefined) : undefined;
  }
  if (group.length > 0) {
    const answers = commitGroup(group);
    port.postMessage([...answers, ...news(log.look(), false)]);
    fault('answered');
    statistics.wrote(answers.length);
  }
  if (next?.kind === 'close') {
    clearTimeout(cleaner);
    clearInterval(analyst);
    stopCollecting();
    db.close();
    port.close();
  }
}

/** Removes what expired, in steps between which others can write. */
function clean(): void {
  const [answer] = commitGroup([{ id: 0, kind: 'clean', args: [] }]);
  const hasMore = answer !== undefined && 'value' in answer && answer.value === true;
  cleaner = setTimeout(clean, hasMore ? 5 : cleanInterval);
}
let cleaner = setTimeout(clean, cleanInterval);

const analyst = setInterval(() => {
  if (statistics.refresh()) port.postMessage(news(false, true));
}, 1000);

const stopCollecting = collectWhenIdle();

port.on('message', serve);
