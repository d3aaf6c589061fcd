import type { Expunge, Expunged, Precondition, Reindexed } from '../../store.js';
import type { PlainAmendment } from '../write/amend.js';
import type { PlainRestoredVersion } from '../write/restore.js';
import type { PlainChange, Stamp } from '../write/write.js';

/** What became of a write; `broken`: the place of a precondition that does not hold, and nothing was written. */
export type Written = { readonly stamps: readonly Stamp[] } | { readonly broken: number };

/** What the writer thread does. `now` is given where a test has a clock of its own. */
export interface WriterOperations {
  write(changes: readonly PlainChange[], now?: number, preconditions?: readonly Precondition[]): Written;
  /** Takes a piece of a write, which others follow; no client is answered. */
  stage(write: number, changes: readonly PlainChange[], preconditions: readonly Precondition[]): void;
  /** Forgets the pieces of a write of which no more will come. */
  unstage(write: number): void;
  /** Does a write of which all pieces have come: so many changes and preconditions. */
  writeStaged(write: number, changes: number, now: number | undefined, preconditions: number): Written;
  restore(versions: readonly PlainRestoredVersion[]): number;
  reindex(items: readonly Reindexed[]): number;
  amend(amendment: PlainAmendment): boolean;
  expunge(expunge: Expunge): Expunged;
  swap(
    map: string,
    key: string,
    expected: string | undefined,
    value: string,
    expires: number | undefined,
    now?: number,
  ): boolean;
  deleteEntry(map: string, key: string): void;
  beginBlob(): number;
  addPiece(blob: number, n: number, bytes: Uint8Array): void;
  finishBlob(blob: number, key: string, size: number, sha256: string, now?: number): void;
  dropBlob(blob: number): void;
  deleteBlob(key: string): void;
}
