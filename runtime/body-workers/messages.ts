import type { Issue } from '../fhir/errors.js';
import type { FormatName } from '../format/negotiate.js';
import type { BodyPurpose, TextForm } from '../core/write/large-bodies.js';
import type { Contained } from '../search/contained.js';
import type { IndexEntry } from '../search/entry.js';
import type { ValidationMode } from '../core/write/validation-mode.js';
import type { Judgement } from '../core/write/parsed-bodies.js';
import type { NamedCode } from '../validate/codes/find-codes.js';
import type { Fault } from '../validate/fault.js';
import type { PatchText } from './patch-text.js';
import type { Piece } from './pieces.js';

/** What threads get when they start. */
export interface BodyWorkerSettings {
  readonly zone: string;
  /** Keys of `OwnBases`. */
  readonly own: readonly string[];
  readonly validation: ValidationMode;
  readonly limits: { readonly nesting: number; readonly entries: number; readonly resource: number };
}

/** A body for a thread. */
export interface Job {
  readonly bytes: Uint8Array;
  readonly format: FormatName;
  readonly purpose: BodyPurpose;
  /** Greatest depth of JSON; absent: that of a body. */
  readonly depth?: number;
  /** What is to be made of it. */
  readonly patch?: PatchText;
  /** It is to be written in this form, and nothing else. */
  readonly form?: TextForm;
}

/** What a thread is asked: one body at a time, whose answers it gives one at a time. */
export type Request =
  | { readonly ask: 'read'; readonly job: Job }
  | { readonly ask: 'next' }
  /** It is not wanted any more. */
  | { readonly ask: 'drop' };

/** What is known of a body beside its tree, its index entries, and faults of its entries, which come before. */
export interface Findings {
  /** Its tree is in an array of one. */
  readonly isWrapped: boolean;
  /** Absent: nothing is known of it. */
  readonly faults?: readonly Fault[];
  readonly content?: { readonly members: string; readonly entryBytes: number; readonly isCut: boolean };
  /** Places of the entries whose resources were validated. */
  readonly checked?: readonly number[];
  /** Judgement on the body, or on the resource in the parameter at a place; its codes come before. */
  readonly judged?: { readonly at: number | undefined; readonly judgement: Judgement };
}

/** The place of an entry, and the faults of its resource. */
export type FaultyEntry = readonly [number, readonly Fault[]];

/** What a thread answers: pieces of the tree, some index entries or faults, and at last what else it found. */
export type Answer =
  | { readonly is: 'piece'; readonly piece: Piece }
  | { readonly is: 'entries'; readonly entries: readonly IndexEntry[] }
  | { readonly is: 'contained'; readonly contained: readonly Contained[] }
  | { readonly is: 'faults'; readonly faulty: readonly FaultyEntry[] }
  /** A part of what was written. */
  | { readonly is: 'text'; readonly text: string }
  | { readonly is: 'codes'; readonly codes: readonly NamedCode[] }
  | { readonly is: 'end'; readonly findings: Findings }
  | {
      readonly is: 'failure';
      readonly issues: readonly [Issue, ...Issue[]];
      readonly headers: Readonly<Record<string, string>>;
    }
  /** Something of ours is wrong. */
  | { readonly is: 'defect'; readonly error: unknown };
