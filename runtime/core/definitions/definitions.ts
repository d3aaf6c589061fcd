import { setTimeout as sleep } from 'node:timers/promises';

import type { Tables } from '../../contract/tables.js';
import type { Resource } from '../../fhir/resource.js';
import type { ExtractorOptions } from '../../indexing/extract.js';
import { describeIndex, staleNames } from '../../indexing/index-record.js';
import { createParameterContext } from '../../indexing/parameters/parameter-context.js';
import { readParameterSet } from '../../indexing/parameters/parameter-set.js';
import { isEffective } from '../../indexing/parameters/read-parameter.js';
import { SEARCH_PARAMETER } from '../../indexing/parameters/stored-parameter.js';
import { fitWords } from '../../indexing/text/fit-words.js';
import { SYSTEM_MAPS } from '../../store/system-maps.js';
import type { Amendment, Change, MapStep, Precondition, Put, Store, StoredVersion } from '../../store/store.js';
import type { Fault } from '../../validate/fault.js';
import { announceChange, CHANGED } from './announce.js';
import { rankOf, readClaims, type GuideClaims } from './guide-claims.js';
import { readIndexStatus, markWriter, readIndexRecord, watchIndexStatus, type IndexStatus } from './index-status.js';
import { checkParameters, parameterFaults, pathOf, type StoredAnyway } from './check-parameter.js';
import { createDefinitionSet, type DefinitionSet } from './definition-set.js';
import { loadStoredParameters } from './stored-parameters.js';
import { createWriter, writersAgree } from './writers.js';

/** A set, and whether the index entries in the store are of it. */
export interface LiveSet extends DefinitionSet {
  readonly indexStatus: IndexStatus;
  /** URLs of active SearchParameters that are not in effect; everybody may know them, as those of the others. */
  readonly notInEffect: readonly string[];
  /** What is claimed because of installed packages. */
  readonly guides: GuideClaims;
  /** What is wrong with a resource, as a search parameter beside the others too. */
  readonly validate: (resource: Resource) => readonly Fault[];
  /** Whether a SearchParameter is meant to be in effect. */
  readonly takesEffect: (resource: Resource) => boolean;
}

/** The definitions that hold at the moment, and all that has to follow them. */
export interface Definitions {
  current(): LiveSet;
  /** The store; what is written has entries of the current set, and a SearchParameter is in effect when its write resolves. */
  readonly store: Store;
  /** Looks for what others changed. */
  look(): Promise<void>;
  /** Sets the listener for active SearchParameters that are not in effect, of each once, in words for people. */
  tellRefused(tell: (text: string) => void): void;
  /**
   * Waits until all processes that write do so by a set.
   *
   * @param of absent: the current one
   * @returns false: it is not the current one any more
   * @throws Error where some go on by another
   */
  agreed(signal?: AbortSignal, of?: LiveSet): Promise<boolean>;
}

/** The parts that definitions and index entries are made from. */
export interface DefinitionsOptions extends Pick<ExtractorOptions, 'own' | 'pace'> {
  /** Those that are built in. */
  readonly tables: Tables;
  readonly zone: string;
  readonly validate: (resource: Resource) => readonly Fault[];
  /** Nothing is written to the store, nor looked for later. */
  readonly isReader: boolean;
  /** Absent: a SearchParameter that cannot be in effect is refused. */
  readonly isStoredAnyway?: StoredAnyway;
}

/**
 * Between two looks whether a process announced a change, between two looks for changes that were not announced, and what taking leave may
 * take, in milliseconds.
 */
const TIMES = { announced: 750, all: 10_000, leave: 1000 };

/** Reads those of a store, and follows them until the store is closed. */
export async function openDefinitions(base: Store, options: DefinitionsOptions): Promise<Definitions> {
  const { tables, zone, own, isReader, isStoredAnyway = () => false } = options;
  const context = createParameterContext(tables);
  const builtIn = describeIndex(tables.search, zone, own?.keys);
  const writer = createWriter(base);
  let announced = isReader ? undefined : await base.maps.get(SYSTEM_MAPS.definitions, CHANGED);
  const stored = await loadStoredParameters(base, context);
  let claims = await readClaims(base);
  /** Those under way, each with the definitions (`IndexMaker.whole`) that its entries were made by. */
  const writes = new Map<Promise<unknown>, string>();
  let tell: (text: string) => void = () => {};
  /** What was reported of those that are refused still. */
  let refusalsTold: ReadonlySet<string> = new Set();
  /** What was looked at is not in effect yet. */
  let isBehind = false;
  /** Something was written since this process last said by what it writes, or may be. */
  let hasWritten = false;
  /** One for all writes that wait for it, so that none waits for the failures of others. */
  let renewing: Promise<void> | undefined;
  /** Others may have gone on without this process, and what they changed is not known here yet. */
  let isLeftBehind = false;
  const first = readSet();
  // A process that makes entries anew waits for those who have said by what they write; what came before that is seen here.
  if (!isReader) await writer.register(first.maker.whole);
  let set = await enter(first);
  if (!isReader) await catchUp();

  function readSet(): DefinitionSet {
    const read = readParameterSet(stored.resources(), context, (resource) =>
      rankOf(resource as Resource, claims.claims),
    );
    return createDefinitionSet(tables, read, context, options, builtIn);
  }

  /** The index remembers that entries are made by these from now on. */
  async function enter(made: DefinitionSet): Promise<LiveSet> {
    const { maker, refused } = made;
    const found = isReader
      ? staleNames((await readIndexRecord(base)).record, maker)
      : await readIndexStatus(base, maker);
    if (!isReader) await markWriter(base, maker);
    return {
      ...made,
      notInEffect: refused.map(({ url = 'without a url' }) => url),
      guides: claims.claims,
      indexStatus: watchIndexStatus(base, maker, found),
      takesEffect: (resource) => isEffective(resource, context),
      validate(resource) {
        const faults = options.validate(resource);
        return faults.length > 0 ? faults : parameterFaults(resource, made.parameters, context, isStoredAnyway);
      },
    };
  }

  /**
   * Says by what this process writes. As long as that is by several, or may soon be, it says all of them, which no process that makes
   * entries anew agrees with.
   */
  function say(coming?: string): Promise<void> {
    const all = new Set([set.maker.whole, ...writes.values(), ...(coming === undefined ? [] : [coming])]);
    return writer.register([...all].sort().join(' '));
  }

  function track<T>(work: Promise<T>): Promise<T> {
    const { whole } = set.maker;
    writes.set(work, whole);
    const done = (): void => {
      writes.delete(work);
      // The last by a set before; where it cannot be said now that is tried again.
      if (whole !== set.maker.whole && ![...writes.values()].includes(whole)) say().catch(() => {});
    };
    work.then(done, done);
    return work;
  }

  function tellOf({ refused }: LiveSet): void {
    const texts = refused.map(({ id, fault }) => {
      const by = fault.other === undefined ? '' : ` (SearchParameter/${fault.other})`;
      return `SearchParameter/${id} is active and not in effect: ${pathOf(fault)}: ${fault.text}${by}`;
    });
    const before = refusalsTold;
    refusalsTold = new Set(texts);
    for (const text of refusalsTold) if (!before.has(text)) tell(text);
  }

  /** Puts what is in the store into effect. */
  async function follow(): Promise<void> {
    const next = readSet();
    // Said before the index remembers it: who makes entries anew asks in the other order, and so misses neither. Nor is it said
    // alone until those under way are through.
    await say(next.maker.whole);
    set = await enter(next);
    tellOf(set);
    await say();
  }

  /** Puts into effect what was written since, and what could not be put into effect then. */
  async function catchUp(): Promise<void> {
    if (await stored.look()) isBehind = true;
    const now = await readClaims(base);
    if (now.text !== claims.text) {
      claims = now;
      isBehind = true;
    }
    if (!isBehind) return;
    await follow();
    isBehind = false;
  }

  const inTurn = createTurns();
  let looked = performance.now();
  const look = (): Promise<void> =>
    inTurn(async () => {
      looked = performance.now();
      await catchUp();
    });

  /** To be waited for before anything is written. */
  async function beginWrite(): Promise<void> {
    hasWritten = true;
    if (isLeftBehind || !writer.isValid()) await (renewing ??= inTurn(renewLate).finally(() => (renewing = undefined)));
  }

  /** Whether a SearchParameter is in effect does not depend on its `meta`. */
  async function amend(amendment: Amendment): Promise<boolean> {
    await beginWrite();
    const [{ entries }] = refit([{ ...amendment, expected: 0 }]) as [Put];
    return track(base.amend({ ...amendment, entries }));
  }

  async function write(
    changes: readonly Change[],
    ...rest: readonly [(readonly Precondition[])?, (readonly MapStep[])?]
  ): Promise<StoredVersion[]> {
    await beginWrite();
    if (!changes.some(({ type }) => type === SEARCH_PARAMETER)) return track(base.write(refit(changes), ...rest));
    return inTurn(async () => {
      await catchUp();
      checkParameters(changes, set.parameters, context, isStoredAnyway);
      try {
        return await track(base.write(refit(changes), ...rest));
      } finally {
        // Whatever became of the write: others look, and so does the next look here where this one fails.
        await announce().catch(() => {});
        looked = -Infinity;
        await lookNow().catch(() => {});
      }
    });
  }

  async function lookNow(): Promise<void> {
    await catchUp();
    looked = performance.now();
  }

  /** What others have changed meanwhile has to be known before others can rely on this process again. */
  async function renewLate(): Promise<void> {
    if (!isLeftBehind && writer.isValid()) return;
    isLeftBehind = true;
    await say();
    await lookNow();
    isLeftBehind = false;
  }

  function refit(changes: readonly Change[]): readonly Change[] {
    const { refit: fit } = set;
    return changes.map((change) => {
      if (change.content === undefined) return change;
      const made = fit(change.content, change.entries);
      // Those that a change comes with fit already.
      if (made === change.entries) return change;
      const { head, tail } = change.body;
      return { ...change, entries: fitWords(made, change.content, head.length + tail.length) };
    });
  }

  async function announce(): Promise<void> {
    announced = await announceChange(base);
  }

  /** Who writes nothing need not say by what: that is said again before the next write. */
  async function renew(): Promise<void> {
    const isWriting = hasWritten || writes.size > 0;
    // What is written meanwhile counts for the next time.
    hasWritten = false;
    await writer.renew(isWriting);
  }

  async function lookIfAnnounced(): Promise<void> {
    const now = await base.maps.get(SYSTEM_MAPS.definitions, CHANGED);
    if (now === announced && performance.now() - looked < TIMES.all) return;
    await look();
    announced = now;
  }

  // Apart from each other: a write of parameters that takes long holds up the looks.
  const timers = isReader ? [] : [renew, lookIfAnnounced].map((each) => repeatQuietly(each, TIMES.announced));
  const store = isReader
    ? base
    : override(base, {
        amend,
        write,
        async close() {
          timers.forEach((stop) => stop());
          // It is forgotten by itself, too, so that a store that does not answer holds nothing up.
          const left = inTurn(() => writer.leave()).catch(() => {});
          await Promise.race([left, sleep(TIMES.leave, undefined, { ref: false })]);
          await base.close();
        },
      });
  return {
    tellRefused(listener) {
      tell = listener;
      refusalsTold = new Set();
      tellOf(set);
    },
    current: () => set,
    store,
    look,
    agreed: (signal, of = set) => writersAgree(base, of.maker.whole, () => set.maker.whole === of.maker.whole, signal),
  };
}

/** The same store but for some methods. */
function override(base: Store, methods: Pick<Store, 'amend' | 'write' | 'close'>): Store {
  return Object.assign(Object.create(base) as Store, methods);
}

/** One after the other, whatever becomes of those before. */
function createTurns(): <T>(work: () => Promise<T>) => Promise<T> {
  let last: Promise<unknown> = Promise.resolve();
  return (work) => {
    const turn = last.then(work, work);
    last = turn.catch(() => {});
    return turn;
  };
}

/** Again and again; what fails is tried again, and keeps no process alive. @returns ends it */
function repeatQuietly(work: () => Promise<void>, pause: number): () => void {
  let timer: NodeJS.Timeout | undefined;
  let stopped = false;
  const later = (): void => {
    if (stopped) return;
    timer = setTimeout(() => void work().then(later, later), pause).unref();
  };
  later();
  return () => {
    stopped = true;
    clearTimeout(timer);
  };
}
