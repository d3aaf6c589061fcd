import { setTimeout as sleep } from 'node:timers/promises';

import type { Tables } from '../../contract/tables.js';
import { newId } from '../../fhir/id.js';
import type { Resource } from '../../fhir/resource.js';
import { describeIndex, notCurrent } from '../../search/index-record.js';
import type { Pace } from '../../search/pace.js';
import { createParameterContext } from '../../search/parameters/parameter-context.js';
import { readParameterSet } from '../../search/parameters/parameter-set.js';
import { SEARCH_PARAMETER } from '../../search/parameters/stored-parameter.js';
import { OWN_MAPS } from '../../store/own-maps.js';
import type { Change, Guard, Store, StoredVersion } from '../../store/store.js';
import type { Fault } from '../../validate/fault.js';
import {
  checkIndexCurrency,
  markWriter,
  readIndexRecord,
  watchIndexCurrency,
  type IndexCurrency,
} from '../index-currency.js';
import { checkParameters, parameterFaults, pathOf } from './check-parameter.js';
import { createDefinitionSet, type DefinitionSet } from './definition-set.js';
import { loadStoredParameters } from './stored-parameters.js';
import { createWriter, writersAgree } from './writers.js';

/** A set, and whether the index entries in the store are of it. */
export interface LiveSet extends DefinitionSet {
  readonly currency: IndexCurrency;
  /** Active SearchParameters that are not in effect, and why, in words for people. */
  readonly notInEffect: readonly string[];
  /** What is wrong with a resource, as a search parameter beside the others too. */
  readonly validate: (resource: Resource) => readonly Fault[];
}

/** The definitions that hold at the moment, and all that has to follow them. */
export interface Definitions {
  current(): LiveSet;
  /** The store; what is written has entries of the current set, and a SearchParameter is in effect when its write resolves. */
  readonly store: Store;
  /** Looks for what others changed. */
  look(): Promise<void>;
  /** Has somebody told of active SearchParameters that are not in effect, now and when that changes, in words for people. */
  tellRefused(tell: (text: string) => void): void;
  /** Waits until all processes that write do so by the current set. @throws Error where some go on by another */
  agreed(signal?: AbortSignal): Promise<void>;
}

/** What they are made of. */
export interface DefinitionsOptions {
  /** Those that are built in. */
  readonly tables: Tables;
  readonly zone: string;
  readonly validate: (resource: Resource) => readonly Fault[];
  /** What stored parameters may take of the time of all; absent: as much as they need. */
  readonly pace?: Pace;
  /** Nothing is written to the store, nor looked for later. */
  readonly isReader: boolean;
}

/**
 * Between two looks whether somebody told of a change, between two looks for those who could not tell, and what taking leave may
 * take, in milliseconds.
 */
const TIMES = { told: 750, all: 10_000, leave: 1000 };
const KEY = 'changed';

/** Reads those of a store, and follows them until the store is closed. */
export async function openDefinitions(base: Store, options: DefinitionsOptions): Promise<Definitions> {
  const { tables, zone, isReader } = options;
  const context = createParameterContext(tables);
  const builtIn = describeIndex(tables.search, zone);
  const writer = createWriter(base);
  let told = isReader ? undefined : await base.maps.get(OWN_MAPS.definitions, KEY);
  const stored = await loadStoredParameters(base, context);
  const writes = new Set<Promise<unknown>>();
  let tell: (text: string) => void = () => {};
  let lastTold = '';
  /** What was looked at is not in effect yet. */
  let isBehind = false;
  /** Something was written since this process last said by what it writes, or may be. */
  let hasWritten = false;
  /** One for all writes that wait for it, so that none waits for the failures of others. */
  let renewing: Promise<void> | undefined;
  let set = await makeSet();
  if (!isReader) {
    // Whoever makes entries anew waits for those who have said by what they write; what came before that is seen here.
    await writer.register(set.maker.whole);
    await catchUp();
  }

  async function makeSet(): Promise<LiveSet> {
    const made = createDefinitionSet(
      tables,
      readParameterSet(stored.resources(), context),
      context,
      { zone, pace: options.pace },
      builtIn,
    );
    const { maker, refused } = made;
    const found = isReader
      ? notCurrent((await readIndexRecord(base)).record, maker)
      : await checkIndexCurrency(base, maker);
    if (!isReader) await markWriter(base, maker);
    return {
      ...made,
      notInEffect: refused.map(
        ({ id, fault }) => `SearchParameter/${id} is active and not in effect: ${pathOf(fault)}: ${fault.text}`,
      ),
      currency: watchIndexCurrency(base, maker, found),
      validate(resource) {
        const faults = options.validate(resource);
        return faults.length > 0 ? faults : parameterFaults(resource, made.parameters, context);
      },
    };
  }

  function track<T>(work: Promise<T>): Promise<T> {
    writes.add(work);
    const done = (): void => void writes.delete(work);
    work.then(done, done);
    return work;
  }

  function tellOf({ notInEffect }: LiveSet): void {
    if (lastTold === notInEffect.join()) return;
    lastTold = notInEffect.join();
    notInEffect.forEach((text) => tell(text));
  }

  /** Puts what is in the store into effect. */
  async function follow(): Promise<void> {
    set = await makeSet();
    tellOf(set);
    // Those under way have entries of the set before: until they are through, this process writes by that one.
    const { whole } = set.maker;
    const before = [...writes];
    if (before.length === 0) return writer.register(whole);
    void Promise.allSettled(before)
      .then(() => (set.maker.whole === whole ? writer.register(whole) : undefined))
      .catch(() => {}); // said again before the next write, or by the next look
  }

  /** Puts into effect what was written since, and what could not be put into effect then. */
  async function catchUp(): Promise<void> {
    if (await stored.look()) isBehind = true;
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

  async function write(changes: readonly Change[], guards?: readonly Guard[]): Promise<StoredVersion[]> {
    hasWritten = true;
    if (!writer.isValid()) await (renewing ??= inTurn(renewLate).finally(() => (renewing = undefined)));
    if (!changes.some(({ type }) => type === SEARCH_PARAMETER)) return track(base.write(refit(changes), guards));
    return inTurn(async () => {
      await catchUp();
      checkParameters(changes, set.parameters, context);
      try {
        return await track(base.write(refit(changes), guards));
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
    if (writer.isValid()) return;
    await writer.register(set.maker.whole);
    await lookNow();
  }

  function refit(changes: readonly Change[]): readonly Change[] {
    const { refit: fit } = set;
    return changes.map((change) => {
      if (change.content === undefined) return change;
      const entries = fit(change.content, change.entries);
      return entries === change.entries ? change : { ...change, entries };
    });
  }

  async function announce(): Promise<void> {
    for (;;) {
      const present = await base.maps.get(OWN_MAPS.definitions, KEY);
      const next = newId();
      if (await base.maps.swap(OWN_MAPS.definitions, KEY, present, next)) {
        told = next;
        return;
      }
    }
  }

  async function lookIfTold(): Promise<void> {
    // Who writes nothing need not say by what: that is said again before the next write.
    if (hasWritten) await writer.renew();
    hasWritten = false;
    const now = await base.maps.get(OWN_MAPS.definitions, KEY);
    if (now === told && performance.now() - looked < TIMES.all) return;
    await look();
    told = now;
  }

  const timer = isReader ? undefined : repeatQuietly(lookIfTold, TIMES.told);
  const store = isReader
    ? base
    : override(base, {
        write: (changes, guards) => write(changes, guards),
        async close() {
          timer?.();
          // It is forgotten by itself, too, so that a store that does not answer holds nothing up.
          const left = inTurn(() => writer.leave()).catch(() => {});
          await Promise.race([left, sleep(TIMES.leave, undefined, { ref: false })]);
          await base.close();
        },
      });
  return {
    tellRefused(listener) {
      tell = listener;
      tellOf(set);
    },
    current: () => set,
    store,
    look,
    agreed: (signal) => writersAgree(base, set.maker.whole, signal),
  };
}

/** The same store but for some methods. */
function override(base: Store, methods: Pick<Store, 'write' | 'close'>): Store {
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
