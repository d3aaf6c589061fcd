import type { JsonObject } from '../../fhir/resource.js';
import type { MapStep } from '../../store/store.js';

/**
 * The ledger of a call that a job makes. It notes the answers of writes together with these, so that a write that is done is not
 * done again after the end of its process, and is answered all the same.
 */
export interface WriteLedger {
  /** Returns the answers that were noted with the write of the call; undefined: it was not done. */
  noted(): readonly NotedReply[] | undefined;
  /** Returns the steps by which a write notes its answers, which fail once another process has taken over the job. */
  steps(replies: readonly NotedReply[]): readonly MapStep[];
  /** Returns the ledger of an entry of a batch. */
  ofEntry(index: number): EntryLedger;
  /**
   * Lets other requests have their turn.
   *
   * @param done entries so far
   * @param total entries in all
   * @throws Error where the job has to end
   */
  turn(done: number, total: number): Promise<void>;
}

/** The ledger of an entry of a batch, whose answer can be kept by itself too: the entry wrote nothing, or failed. */
export interface EntryLedger extends WriteLedger {
  /** Returns the JSON text that was kept. */
  kept(): string | undefined;
  /** Keeps the JSON text of an answer unless a write has noted it. @throws StepConflict where the job has another process */
  keep(answer: string): Promise<void>;
}

/** The answer to a write before it is done: what depends on the time of the write is left out. */
export interface NotedReply {
  readonly status: number;
  readonly headers?: Readonly<Record<string, string>>;
  readonly versionId?: string;
  readonly location?: string;
  readonly contentLocation?: string;
  /** Of an entry of a transaction: its place. */
  readonly index?: number;
  readonly resource?: JsonObject;
  /** The version that the answer is about: type, id and number. */
  readonly of?: readonly [string, string, number];
  /** The answer holds the content of that version. */
  readonly hasContent?: true;
}
