import type { Database } from 'better-sqlite3';

import { formatInstant } from '../../../fhir/instant.js';
import type { RestoredVersion } from '../../store.js';
import type { VersionAppender } from './append-version.js';
import type { WriteClock } from '../file/clock.js';
import type { Dictionary } from './dictionary.js';

/** A version of another store, without what only other stores than this have a use for. */
export type PlainRestoredVersion = Omit<RestoredVersion, 'content'>;

/** Puts versions of another store in, or throws half way: inside a transaction that is rolled back then. */
export type Restorer = (restored: readonly PlainRestoredVersion[]) => number;

interface PresentRow {
  readonly updated: number;
  readonly body: string | null;
}

/** The writer of versions that have their numbers and times already. */
export function openRestorer(
  db: Database,
  versions: VersionAppender,
  dictionary: Dictionary,
  clock: WriteClock,
): Restorer {
  const selectVersion = db.prepare<[number, number], PresentRow>(
    'SELECT updated, body FROM version WHERE resource = ? AND version = ?',
  );

  /** @returns whether it was not here */
  function restore({
    type: name,
    id,
    version,
    lastUpdated,
    json,
    entries = [],
    contained,
  }: PlainRestoredVersion): boolean {
    const called = `${name}/${id}/_history/${version}`;
    const type = dictionary.term(name);
    const before = versions.find(type, id);
    const body = json ?? null;
    const present = before === undefined ? undefined : selectVersion.get(before.key, version);
    if (present !== undefined) {
      if (present.updated === lastUpdated && present.body === body) return false;
      throw new Error(`${called} is here already, with another content or time`);
    }
    const last = before?.version ?? 0;
    if (version !== last + 1) {
      throw new Error(`${called} does not follow the last version here, which is ${last === 0 ? 'none' : last}`);
    }
    // Times never fall along the order of arrival: bounds of time are found by bisection there.
    if (lastUpdated < clock.updated) {
      const [given, newest] = [formatInstant(lastUpdated), formatInstant(clock.updated)];
      throw new Error(`${called} is from ${given}, but there are versions from ${newest} here already`);
    }
    clock.follow(lastUpdated);
    const seq = clock.nextSeq();
    versions.append({ type, name, id, before, seq, version, updated: lastUpdated, body, entries, contained });
    return true;
  }

  return (restored) => restored.filter(restore).length;
}
