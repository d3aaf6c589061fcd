import { FhirError } from '../../../fhir/errors.js';
import type { Precondition } from '../../store.js';
import type { PlainChange } from './write.js';

/** Changes and preconditions of one write. */
export interface StagedWrite {
  readonly changes: readonly PlainChange[];
  readonly preconditions: readonly Precondition[];
}

/** Writes of which pieces have come, but not all. Nothing of them is in the file. */
export interface Staging {
  add(write: number, piece: StagedWrite): void;
  drop(write: number): void;
  /** A whole write. @throws FhirError where pieces are missing */
  get(write: number, changes: number, preconditions: number): StagedWrite;
}

/** Nothing has come. */
export function openStaging(): Staging {
  const staged = new Map<number, StagedWrite[]>();
  return {
    add(write, piece) {
      const before = staged.get(write);
      if (before === undefined) staged.set(write, [piece]);
      else before.push(piece);
    },
    drop: (write) => void staged.delete(write),
    get(write, changes, preconditions) {
      const pieces = staged.get(write) ?? [];
      const whole = {
        changes: pieces.flatMap((piece) => piece.changes),
        preconditions: pieces.flatMap((piece) => piece.preconditions),
      };
      if (whole.changes.length === changes && whole.preconditions.length === preconditions) return whole;
      // The thread died after it had taken some, and another was started.
      throw new FhirError('store-unavailable', undefined, { diagnostics: 'a thread of the store ended' });
    },
  };
}
