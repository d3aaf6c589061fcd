import type { Resource } from '../../fhir/resource.js';
import type { Condition } from '../../search/query/query.js';
import type { Change, Precondition, StoredVersion } from '../../store/store.js';
import type { Call, Reply } from '../call.js';
import type { Services } from '../services.js';

/** What a condition finds, and what of it has to be so still when the write is done. */
export interface Matches {
  /** Current versions, none of them a deletion, in the order of ids; no more than were asked for. */
  readonly found: readonly StoredVersion[];
  readonly precondition: Precondition;
}

/**
 * What a write looks at before it is decided: the store, or, for an entry of a transaction, the store together with what the
 * entries before it make of it.
 */
export interface WriteView {
  /** It is the store and nothing else, so that its index tells of what is there. */
  readonly isStore?: true;
  /** As `Store.read`. */
  read(type: string, id: string): Promise<StoredVersion | undefined>;
  /** @param most greatest number of resources; whoever needs to know whether there is another one asks for one more */
  match(type: string, where: Condition, most: number): Promise<Matches>;
  /** Whether a condition finds anything. What that is nobody is told, so it need not be anything that may be written. */
  finds(type: string, where: Condition): Promise<{ readonly isAny: boolean; readonly precondition: Precondition }>;
}

/** A resource that a write is about. */
export interface Target {
  readonly id: string;
  /** The version that is there, which may be a deletion; undefined: there never was one. */
  readonly current: StoredVersion | undefined;
}

/** Which resources a write is about; its preconditions (`If-Match` and the like) are fulfilled. */
export interface WriteTarget {
  readonly type: string;
  /** One, but for a conditional delete: that may find none, or several. */
  readonly targets: readonly Target[];
  /** For the write, whatever comes of it. */
  readonly preconditions: readonly Precondition[];
  /** A conditional create found that the target is there already: nothing is written. */
  readonly exists?: true;
}

/** What is to be written, and what is then answered. */
export interface Decided {
  /** Empty: nothing is written. */
  readonly changes: readonly Change[];
  /** @param written the new versions, in the order of the changes */
  reply(written: readonly StoredVersion[]): Reply;
}

/**
 * A write that a client asks for, checked as far as that can be done without the store: a request of its own, or an entry
 * of a transaction. First it is found out which resource it is about, then what becomes of it, so that a transaction can
 * put the ids of all its resources into their contents in between. Both may be done again, when somebody else has written.
 */
export interface WritePlan {
  /** For `commit`. */
  readonly keys: readonly string[];
  /** @throws FhirError `precondition-failed`, `not-found` and what else is to be told of what is there, or is not */
  resolveTarget(view: WriteView): Promise<WriteTarget>;
  /**
   * @param content takes the place of what was sent: the same, with other references in it; of no use to patch and delete
   * @throws FhirError where the result is none that can be stored
   */
  decide(writeTarget: WriteTarget, content?: Resource): Promise<Decided>;
  /** Characters of the large resource that `decide` works on; 0, or absent: it is small. */
  weight?(writeTarget: WriteTarget): number;
  /** Takes back what was put beside the resources for it; to be called where nothing of it has been written, and will be. */
  drop?(): Promise<void>;
}

/** Makes a plan of a call. @throws FhirError for what is wrong with it by itself */
export type WritePlanner = (call: Call, services: Services) => Promise<WritePlan>;
