import type { Issue } from '../fhir/errors.js';
import type { JsonValue } from '../fhir/resource.js';
import type { FormatName } from '../format/negotiate.js';
import type { BodyPurpose, TextForm } from '../core/write/large-bodies.js';
import type { ValidationMode } from '../core/write/validation-mode.js';
import type { Judgement, ParsedContent } from '../core/write/parsed-bodies.js';
import type { Fault } from '../validate/fault.js';
import type { PatchText } from './patch-text.js';
import type { Piece } from './pieces.js';

/** Settings that threads receive when they start. */
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

/** Request to a thread. It works on one body at a time, and gives one answer to each request. */
export type Request =
  | { readonly ask: 'read'; readonly job: Job }
  | { readonly ask: 'next' }
  /** It is not wanted any more. */
  | { readonly ask: 'drop' };

/** A body with what was found about it: its pieces make this. */
export interface Whole {
  readonly tree: JsonValue;
  /** `members` in parts; `entryBytes` is null where it is infinite. */
  readonly prepared?: {
    readonly faults: readonly Fault[];
    readonly content?: Omit<ParsedContent, 'members' | 'entryBytes'> & {
      readonly members: readonly string[];
      readonly entryBytes: number | null;
    };
  };
  /** Places of the entries whose resources were validated, with the faults of each. */
  readonly entries?: readonly (readonly [number, readonly Fault[]])[];
  /** Judgement on the body, or on the resource in the parameter at a place. */
  readonly judged?: { readonly at?: number | undefined; readonly judgement: Judgement };
}

/** Answer of a thread: pieces of a `Whole`, or of the parts of a text that it wrote, and a last one that ends them. */
export type Answer =
  | { readonly is: 'piece'; readonly piece: Piece }
  | { readonly is: 'end' }
  | {
      readonly is: 'failure';
      readonly issues: readonly [Issue, ...Issue[]];
      readonly headers: Readonly<Record<string, string>>;
    }
  /** Something of ours is wrong. */
  | { readonly is: 'defect'; readonly error: unknown };
