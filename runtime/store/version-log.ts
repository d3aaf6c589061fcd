/**
 * Interaction that made a version: `create` where nothing was current before.
 * https://hl7.org/fhir/R5/valueset-interaction-trigger.html
 */
export type LoggedInteraction = 'create' | 'update' | 'delete';

/** A version in the order of commits. */
export interface LoggedVersion {
  readonly type: string;
  readonly id: string;
  /** Its number: later commits have higher ones. Numbers of expunged versions are missing. */
  readonly seq: number;
  readonly version: number;
  /** `lastUpdated` of the version as it was committed: milliseconds since the epoch. */
  readonly updated: number;
  readonly interaction: LoggedInteraction;
}

/**
 * All versions in the order in which they were committed, each once, whatever process wrote it. What commits later has a higher number,
 * so that a reader who goes on after the last number misses nothing. A version shows within a moment after its commit.
 */
export interface VersionLog {
  /**
   * The number of the last version so far. The log begins where it was not needed before: every version that is committed after this
   * resolves gets a higher number.
   */
  end(): Promise<number>;
  /**
   * Versions after a number, in their order.
   *
   * @param limit greatest number of versions
   * @returns undefined where the log does not hold all versions after it: they were trimmed, or it is of another store
   */
  read(after: number, limit: number): Promise<readonly LoggedVersion[] | undefined>;
  /**
   * A number after which all versions come that were committed after an instant, and perhaps some from before.
   *
   * @param instant milliseconds since the epoch
   * @returns undefined where the log does not go back so far
   */
  placeAt(instant: number): Promise<number | undefined>;
  /**
   * Has a function called when there may be more to read; it may be called for nothing.
   *
   * @returns ends it
   */
  watch(listener: () => void): () => void;
  /**
   * Forgets versions up to a number that are older than an instant, where they take up room. Their resources stay.
   *
   * @param instant milliseconds since the epoch
   */
  trim(upTo: number, instant: number): Promise<void>;
}

/** How long after its `lastUpdated` a version is committed at most, in milliseconds: what `HistoryPage.complete` relies on too. */
export const COMMIT_DELAY = 5000;
