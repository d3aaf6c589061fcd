import { yieldToEventLoop } from '../../../fhir/yield-to-event-loop.js';
import { withTimeout } from '../../../fhir/with-timeout.js';
import { preconditionKey } from '../../precondition-key.js';
import { errorOfReferences, guardKeys, hasReferenceChecks } from '../../references.js';
import {
  PreconditionConflict,
  StepConflict,
  VersionConflict,
  type Change,
  type MapStep,
  type Precondition,
  type Put,
  type Store,
  type StoredVersion,
} from '../../store.js';
import { findVersions, openApply } from './apply-changes.js';
import { openReferenceCheck } from './check-references.js';
import { keyOf, pastKeyOf } from '../bson/documents.js';
import { commandOptions, SLACK, type CommandOptions } from './command-options.js';
import type { Copies } from './single/copies.js';
import { openKeyQueue } from '../../key-queue.js';
import { countContained } from '../../write-contained.js';
import { timeOf } from '../../write-time.js';
import {
  isConnectionLost,
  isDuplicate,
  isSelectionFailed,
  outcomeUnknown,
  storeBusy,
  transactionTooLarge,
  translateWriteError,
} from '../mongo-errors.js';
import type { Recent } from '../read/recent.js';
import { lockPreconditions } from './lock-preconditions.js';
import { planWrite, toDocument, type FoundVersion } from './plan-write.js';
import { openRestamper } from './restamp.js';
import { TooLate, type Work } from './transaction.js';
import { openInsert } from './single/inserts.js';
import { openUpdate } from './single/update.js';
import type { WriterParts } from './writer-parts.js';

/**
 * A stamp may be as old as this at the commit, in milliseconds: then it is committed before the 5 s are over within which
 * `complete` of history expects it.
 */
const MAX_AGE = 3000;

const NOTHING: ReadonlyMap<string, FoundVersion> = new Map();

/** More changes than this, and resources within these, take their time by themselves: another try would be as late. */
const LATE_BY_NATURE = 200;

/**
 * Where the cache has no room for a transaction, the server says so, or undoes it as if another one were in its way. One of so many changes
 * that was undone so often while nothing changed is taken for too large.
 */
const TOO_LARGE_BY_ALL_SIGNS = { changes: 1000, tries: 3 };

/**
 * The writer: all changes or none. One resource without preconditions and guards, and with nothing within it, is created by one insert, and
 * updated or deleted as `Update` says; everything else is one transaction.
 */
export function openWriter(parts: WriterParts, copies: Copies, recent: Recent): Store['write'] {
  const { collections, causal, transactions, stamps, slotOf, findBroken, swapAll, settle, time, fault } = parts;
  const { resource, history } = collections;
  const queue = openKeyQueue();
  const restamp = openRestamper(parts);
  const apply = openApply(parts);
  const insert = openInsert(resource, causal, time);
  const update = openUpdate(parts, copies, recent);
  const findBrokenReferences = openReferenceCheck(collections);

  /** Before a write that is no transaction: a target that is deleted a moment later could as well have been deleted after the write. */
  async function checkTargets(changes: readonly Change[], deadline: number): Promise<void> {
    if (!hasReferenceChecks(changes)) return;
    await causal.read((session) => checkReferences(changes, commandOptions(session, deadline - SLACK)));
  }

  async function checkReferences(changes: readonly Change[], given: CommandOptions): Promise<void> {
    const broken = await findBrokenReferences(changes, given);
    if (broken !== undefined) throw errorOfReferences(changes, broken);
  }

  async function create(change: Put, deadline: number): Promise<Written> {
    await checkTargets([change], deadline);
    fault('begin');
    const begun = performance.now();
    const { document, stored } = toDocument(change, 1, stamps.begin().next(undefined), slotOf);
    try {
      await insert({ document, size: stored.json?.length ?? 0, deadline });
    } catch (error) {
      if (isDuplicate(error)) throw await conflictOf(change);
      // It may have been sent before the connection broke, and the repetition have found no server.
      throw isConnectionLost(error) || isSelectionFailed(error) ? outcomeUnknown() : error;
    }
    fault('committed');
    return { versions: [stored], begun };
  }

  async function conflictOf({ type, id, expected }: Change): Promise<Error> {
    const found = await causal.read((session) =>
      resource.findOne({ _id: keyOf({ type, id }) }, { session, maxTimeMS: time, projection: { version: 1 } }),
    );
    return found === null ? storeBusy() : new VersionConflict(type, id, expected, found.version);
  }

  async function updateOne(asked: Asked, deadline: number): Promise<Written> {
    await checkTargets(asked.changes, deadline);
    return (await update(asked.changes[0]!, deadline)) ?? change(asked, deadline, true);
  }

  /** @param isMet whether there may be pending copies of what is to be replaced */
  async function change(
    { changes, preconditions, steps, keys, locks }: Asked,
    deadline: number,
    isMet = false,
  ): Promise<Written> {
    const isChecked = hasReferenceChecks(changes);
    let tries = 0;

    const attempt: Work<Written> = async (_session, given) => {
      tries++;
      if (changes.length >= TOO_LARGE_BY_ALL_SIGNS.changes && tries > TOO_LARGE_BY_ALL_SIGNS.tries)
        throw transactionTooLarge();
      fault('begin');
      await hold(preconditions, locks, given);
      if (steps.length > 0 && !(await swapAll(steps, given))) throw new StepConflict();
      // Where nothing may be there yet a duplicate tells that something is, and `look` what.
      const isNew = changes.every(({ expected }) => expected === 0);
      const found = isNew ? NOTHING : await findVersions(collections, keys, given);
      if (isMet || tries > 1) await removePending(found, given);
      const begun = performance.now();
      const versions = await apply(planWrite(changes, found, stamps.begin()), given);
      if (isChecked) await checkReferences(changes, given);
      // What takes as long again goes in late, and is stamped anew afterwards: better than never.
      const isLate = performance.now() - begun > MAX_AGE;
      if (isLate && tries === 1 && changes.length + countContained(changes) <= LATE_BY_NATURE) throw new TooLate();
      return { versions, begun };
    };

    /** Those who were in the way have mostly written what was to be written here, and no transaction is needed to see that. */
    async function look(): Promise<void> {
      const found = await causal.read((session) =>
        resource.find({ _id: { $in: keys } }, { session, maxTimeMS: time, projection: { version: 1 } }).toArray(),
      );
      const versions = new Map(found.map(({ _id, version }) => [_id, version]));
      const firsts = new Map([...changes].reverse().map((each) => [keyOf(each), each]));
      for (const [key, { type, id, expected }] of firsts) {
        const actual = versions.get(key) ?? 0;
        // After a change of the primary a read may show less of what other processes wrote than is there.
        if (actual > expected) throw new VersionConflict(type, id, expected, actual);
      }
    }

    return transactions.run(attempt, deadline, look);
  }

  /** Removes pending copies of current versions; what made them and is at work still finds another document then, and does nothing. */
  async function removePending(found: ReadonlyMap<string, FoundVersion>, given: CommandOptions): Promise<void> {
    const copies = [...found].map(([key, { version }]) => pastKeyOf(key, version));
    if (copies.length === 0) return;
    await history.deleteMany({ _id: { $in: copies }, pending: true }, { ...given(), hint: { _id: 1 } });
  }

  /** @throws PreconditionConflict */
  async function hold(
    preconditions: readonly Precondition[],
    locks: readonly string[],
    given: CommandOptions,
  ): Promise<void> {
    await lockPreconditions(collections, locks, given);
    if (preconditions.length === 0) return;
    const broken = await findBroken(preconditions, given().session);
    if (broken !== undefined) throw new PreconditionConflict(broken);
    fault('preconditions');
  }

  return async (changes, preconditions = [], steps = []) => {
    if (changes.length === 0 && preconditions.length === 0 && steps.length === 0) return [];
    const longest = time + timeOf(changes);
    const deadline = performance.now() + longest;
    const keys = [...new Set(changes.map(keyOf))];
    const locks = await lockKeys(preconditions, changes);
    const isAlone = locks.length === 0 && steps.length === 0 && !refersToItself(changes);
    const asked = { changes, preconditions, steps, keys, locks };
    const [first] = changes;
    async function work(): Promise<StoredVersion[]> {
      await settle();
      const { versions, begun } =
        isAlone && isCreation(changes.length, first)
          ? await create(first, deadline)
          : await queue.run([...keys, ...locks], deadline - performance.now() - SLACK, () =>
              isAlone && isPlain(changes) ? updateOne(asked, deadline) : change(asked, deadline),
            );
      const isLate = performance.now() - begun > MAX_AGE;
      const stored = isLate ? await restamp(changes, versions, performance.now() + longest) : versions;
      fault('answered');
      return stored;
    }
    // What comes to its end when the client does not wait any more is a commit, which may go through.
    try {
      return await withTimeout(longest, work(), outcomeUnknown);
    } catch (error) {
      throw translateWriteError(error, changes.length);
    }
  };
}

/** Keys of preconditions, and those that references have in common with deletions, each once, sorted. */
async function lockKeys(
  preconditions: readonly Precondition[],
  changes: readonly Change[],
): Promise<readonly string[]> {
  const pace = yieldToEventLoop();
  const keys = new Set(guardKeys(changes));
  for (const precondition of preconditions) {
    keys.add(preconditionKey(precondition));
    await pace();
  }
  return [...keys].sort();
}

/** What is to be written. */
interface Asked {
  readonly changes: readonly Change[];
  readonly preconditions: readonly Precondition[];
  readonly steps: readonly MapStep[];
  /** Of the resources, each once. */
  readonly keys: string[];
  /** What `lockKeys` gives. */
  readonly locks: readonly string[];
}

/** What was written, and when its times were taken. */
interface Written {
  readonly versions: StoredVersion[];
  readonly begun: number;
}

/** Its target is there once it is written. */
function refersToItself(changes: readonly Change[]): boolean {
  return changes.some(
    ({ type, id, targets }) => targets?.some((each) => each.type === type && each.id === id) === true,
  );
}

/** What is within a resource has documents of its own. */
function hasContained({ contained = [] }: Put): boolean {
  return contained.length > 0;
}

/** One change of a resource that is there already. */
function isPlain([first, ...others]: readonly Change[]): boolean {
  if (first === undefined || others.length > 0 || first.expected === 0) return false;
  return first.body === undefined || !hasContained(first);
}

function isCreation(count: number, first: Change | undefined): first is Put {
  return count === 1 && first?.expected === 0 && first.body !== undefined && !hasContained(first);
}
