import { parentPort, receiveMessageOnPort, workerData } from 'node:worker_threads';

import { FhirError } from '../../../fhir/errors.js';
import { collectWhenIdle } from '../../../observe/collect-when-idle.js';
import { openAmender } from '../write/amend.js';
import { openVersionAppender } from '../write/append-version.js';
import { openBlobWriter } from '../write/blob-tables.js';
import { openPreconditionCheck } from '../write/check-preconditions.js';
import { openReferenceCheck } from '../write/check-references.js';
import { connect, WRITER_CACHE } from '../file/connect.js';
import { openDictionary } from '../write/dictionary.js';
import { whyAnother } from '../file/file-identity.js';
import { openExpunger } from '../write/expunge.js';
import { openFault } from '../file/fault.js';
import { openGroups } from '../write/group.js';
import { openLogKeeper } from '../file/log-keeper.js';
import { openMapWriter } from '../read/maps.js';
import type { Answer, Request } from './messages.js';
import { openRestorer } from '../write/restore.js';
import type { ThreadSettings } from '../settings.js';
import { openStaging } from '../write/staging.js';
import { openWriteClock, type ClockMark } from '../file/clock.js';
import { openWriteLock } from '../file/write-lock.js';
import type { MapStep, Precondition, Reindexed } from '../../store.js';
import { openWriter, type PlainChange, type Stamp } from '../write/write.js';

// Entry of the writer thread, the only one of the process that changes data. What came in while a commit was under way
// goes into the next one together; a request that writes alone does not wait.

/** Bounds of a group, so that other processes get the lock too. */
const MAX_GROUP = 200;

const port = parentPort!;
const settings = workerData as ThreadSettings;
const { file, identity, isTemporary, lockWait, blobGrace, cleanInterval } = settings;
const db = connect(file, { cache: WRITER_CACHE, timeout: 0, isTemporary, identity });
if (settings.maxPages !== undefined) db.pragma(`max_page_count = ${settings.maxPages}`);

const fault = openFault(settings.faultAt, settings.faultAfter);
const dictionary = openDictionary(db);
const clock = openWriteClock(db);
const versions = openVersionAppender(db, dictionary, fault);
const write = openWriter(versions, dictionary, clock);
const findBroken = openPreconditionCheck(db, dictionary, settings.preconditionBudget);
const checkReferences = openReferenceCheck(db, dictionary);
const restore = openRestorer(db, versions, dictionary, clock);
const lock = openWriteLock(db, lockWait);
const maps = openMapWriter(db);
const blobs = openBlobWriter(db);
const log = openLogKeeper(db);

const staging = openStaging();

/** Result of a write; `broken`: the place of a precondition that does not hold, and nothing was written. */
export type Written =
  | { readonly stamps: readonly Stamp[] }
  | { readonly broken: number }
  /** A step found another entry than it expects. */
  | { readonly isStepRefused: true };

const operations = {
  write(
    changes: readonly PlainChange[],
    _now?: number,
    preconditions: readonly Precondition[] = [],
    steps: readonly MapStep[] = [],
  ): Written {
    const broken = findBroken(preconditions);
    if (broken !== undefined) return { broken };
    if (steps.length > 0 && !maps.swapAll(steps)) return { isStepRefused: true };
    fault('preconditions');
    const stamps = write(changes);
    checkReferences(changes);
    return { stamps };
  },
  /** Takes a piece of a write, which others follow; no client is answered. */
  stage(id: number, changes: readonly PlainChange[], preconditions: readonly Precondition[]): void {
    staging.add(id, { changes, preconditions });
    fault('stage');
  },
  /** Forgets the pieces of a write of which no more will come. */
  unstage: staging.drop,
  /** Does a write of which all pieces have come: so many changes and preconditions. */
  writeStaged(
    id: number,
    changes: number,
    now: number | undefined,
    preconditions: number,
    steps: readonly MapStep[],
  ): Written {
    const whole = staging.get(id, changes, preconditions);
    return operations.write(whole.changes, now, whole.preconditions, steps);
  },
  restore,
  reindex: (items: readonly Reindexed[]) => items.filter(versions.reindex).length,
  amend: openAmender(db, dictionary, versions),
  expunge: openExpunger(db, dictionary, versions),
  swap: maps.swap,
  swapAll: maps.swapAll,
  deleteEntry: maps.delete,
  beginBlob: () => blobs.begin(Date.now()),
  addPiece(blob: number, n: number, bytes: Uint8Array): void {
    blobs.piece(blob, n, bytes, Date.now());
    fault('piece');
  },
  finishBlob: blobs.finish,
  dropBlob: blobs.drop,
  deleteBlob: (key: string) => blobs.delete(key, Date.now()),
  clean() {
    const more = maps.clean(Date.now());
    return blobs.clean(Date.now() - blobGrace) || more;
  },
};

/** Operations of the writer thread. `now` is given where a test has a clock of its own. */
export type WriterOperations = Omit<typeof operations, 'clean'>;

const perform = operations as unknown as Record<string, (...args: readonly unknown[]) => unknown>;

const commitGroup = openGroups(db, {
  begin(group) {
    const diagnostics = whyAnother(file, identity);
    if (diagnostics !== undefined) throw new FhirError('store-unavailable', undefined, { diagnostics });
    const first = group.find(({ kind }) => kind === 'write' || kind === 'writeStaged');
    const given = first?.args[first.kind === 'write' ? 1 : 2] as number | undefined;
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

/** Tells the main thread, beside the answers, that the log is worth being written back. */
const CHECKPOINT: Answer = { id: 0, value: 'checkpoint' };

function receive(): Request | undefined {
  return receiveMessageOnPort(port)?.message as Request | undefined;
}

/** Takes what belongs to a write of which there is more to come. @returns whether it was that */
function stage({ kind, args }: Request): boolean {
  if (kind !== 'stage' && kind !== 'unstage') return false;
  perform[kind]!(...args);
  return true;
}

function serve(first: Request): void {
  let next: Request | undefined = first;
  const group: Request[] = [];
  while (next !== undefined && next.kind !== 'close') {
    const isLong: boolean = next.kind === 'writeStaged';
    // Those who came before a long write do not wait for it.
    if (isLong && group.length > 0) commitAndAnswer(group.splice(0));
    if (!stage(next)) group.push(next);
    next = isLong || group.length >= MAX_GROUP ? undefined : receive();
  }
  if (group.length > 0) commitAndAnswer(group);
  if (next?.kind === 'close') {
    clearTimeout(cleaner);
    stopCollecting();
    db.close();
    port.close();
  }
}

function commitAndAnswer(group: readonly Request[]): void {
  const answers = commitGroup(group);
  port.postMessage(log.look() ? [...answers, CHECKPOINT] : answers);
  for (const { kind, args } of group) if (kind === 'writeStaged') perform['unstage']!(args[0]);
  fault('answered');
}

/** Removes what expired, in steps between which others can write. */
function clean(): void {
  const [answer] = commitGroup([{ id: 0, kind: 'clean', args: [] }]);
  const hasMore = answer !== undefined && 'value' in answer && answer.value === true;
  cleaner = setTimeout(clean, hasMore ? 5 : cleanInterval);
}
let cleaner = setTimeout(clean, cleanInterval);

const stopCollecting = collectWhenIdle();

port.on('message', serve);
