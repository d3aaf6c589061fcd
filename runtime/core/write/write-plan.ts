import type { Resource } from '../../fhir/resource.js';
import type { Condition } from '../../search/query/query.js';
import type { Change, Precondition, StoredVersion } from '../../store/store.js';
import type { Call, Reply } from '../call.js';
import type { Services } from '../services.js';

/** The matches of a condition, and the precondition that they are still the same when the write is committed. */
export interface Matches {
  /** Current versions without deletions, in any order; at most as many as requested. */
  readonly found: readonly StoredVersion[];
  readonly precondition: Precondition;
}

/**
 * The data that a write is decided on: the store or, for an entry of a transaction, the store with the changes of the
 * entries before it.
 */
export interface WriteView {
  /** Set if the view is the store without pending changes, so that the store's index can be used. */
  readonly isStore?: true;
  /** As `Store.read`. */
  read(type: string, id: string): Promise<StoredVersion | undefined>;
  /** @param most greatest number of resources; a caller that has to detect further matches asks for one more */
  match(type: string, where: Condition, most: number): Promise<Matches>;
  /** Whether a condition has any match. Matches are not returned, so the client needs no write access to them. */
  finds(type: string, where: Condition): Promise<{ readonly isAny: boolean; readonly precondition: Precondition }>;
}

/** A resource that a write changes. */
export interface Target {
  readonly id: string;
  /** The current version, which may be a deletion; undefined if there never was one. */
  readonly current: StoredVersion | undefined;
}

/** The resources that a write changes; its preconditions (`If-Match` and the like) are fulfilled. */
export interface WriteTarget {
  readonly type: string;
  /** Exactly one, except for a conditional delete, which may have none or several. */
  readonly targets: readonly Target[];
  /** Preconditions of the write, in addition to the expected versions of its changes. */
  readonly preconditions: readonly Precondition[];
  /** Set if a conditional create found an existing target: nothing is written. */
  readonly exists?: true;
}

/** The changes of a write, and its answer. */
export interface Decided {
  /** Empty: nothing is written. */
  readonly changes: readonly Change[];
  /** @param written the new versions, in the order of the changes */
  reply(written: readonly StoredVersion[]): Reply;
  /** Records what was written beside what the answer is about. @param written as above */
  record?(written: readonly StoredVersion[]): void;
}

/**
 * A write that a client requested by itself or as an entry of a transaction, checked as far as possible without the store.
 * The target is resolved first and the change decided afterwards; in between, a transaction resolves the references among
 * its resources. Both steps are repeated after a write conflict.
 */
export interface WritePlan {
  /** For `commit`. */
  readonly keys: readonly string[];
  /** @throws FhirError `precondition-failed`, `not-found` and others that depend on the current version */
  resolveTarget(view: WriteView): Promise<WriteTarget>;
  /**
   * @param content the content that was sent, with its references resolved; patch and delete ignore it
   * @throws FhirError if the result cannot be stored
   */
  decide(writeTarget: WriteTarget, content?: Resource): Promise<Decided>;
  /** Characters of the resource that `decide` works on, if it is large; otherwise 0. Absent: always small. */
  weight?(writeTarget: WriteTarget): number;
  /** Deletes the blobs that the plan has stored. To be called only when the write can no longer happen. */
  drop?(): Promise<void>;
}

/** Plans the write of a call. @throws FhirError for faults of the call that do not depend on the store */
export type WritePlanner = (call: Call, services: Services) => Promise<WritePlan>;
