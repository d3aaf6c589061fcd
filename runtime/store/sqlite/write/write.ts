import { stampBody } from '../../body.js';
import { VersionConflict, type Deletion, type Put } from '../../store.js';
import type { VersionAppender } from './append-version.js';
import type { WriteClock } from '../file/clock.js';
import type { Dictionary } from './dictionary.js';

/** A change without what only other stores have a use for. */
export type PlainChange = Omit<Put, 'content'> | Omit<Deletion, 'content' | 'refuse'>;

/** Version number and time that a change was given. */
export interface Stamp {
  readonly version: number;
  readonly lastUpdated: number;
}

/** Does all changes, or throws half way: inside a transaction that is rolled back then. */
export type Writer = (changes: readonly PlainChange[]) => Stamp[];

/** The writer of versions that get their numbers and times here. */
export function openWriter(versions: VersionAppender, dictionary: Dictionary, clock: WriteClock): Writer {
  function apply(change: PlainChange): Stamp {
    const type = dictionary.term(change.type);
    const before = versions.find(type, change.id);
    const actual = before?.version ?? 0;
    if (actual !== change.expected || (before?.amended ?? 0) !== (change.amended ?? 0)) {
      throw new VersionConflict(change.type, change.id, change.expected, actual);
    }
    const version = actual + 1;
    const seq = clock.nextSeq();
    const updated = clock.stamp(before?.updated);
    const body = change.body === undefined ? null : stampBody(change.body, version, updated);
    const entries = change.body === undefined ? [] : change.entries;
    const contained = change.body === undefined ? [] : change.contained;
    versions.append({
      type,
      name: change.type,
      id: change.id,
      before,
      seq,
      version,
      updated,
      body,
      entries,
      contained,
    });
    return { version, lastUpdated: updated };
  }

  return (changes) => changes.map(apply);
}
