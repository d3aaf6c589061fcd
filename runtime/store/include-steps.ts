import type { Condition } from '../search/query/query.js';
import type { ResourceKey } from './store.js';

/** Step of collecting includes: what a store is asked, in the snapshot of the page. */
export type IncludeStep =
  /**
   * The reference entries of each of these resources, of these parameters; others may be there, too. Answer: `ReferenceEntry[][]`, in
   * their order.
   */
  | { readonly ask: 'references'; readonly of: readonly ResourceKey[]; readonly params: readonly string[] }
  /** Current resources whose `url`, and `version` if one is named, are those of a canonical. Answer: `ResourceKey[]`. */
  | { readonly ask: 'canonicals'; readonly of: readonly CanonicalTarget[]; readonly limit: number }
  /** Current resources of a type that refer to any of these by any of these parameters, each once. Answer: `ResourceKey[]`. */
  | {
      readonly ask: 'sources';
      readonly type: string;
      readonly params: readonly string[];
      readonly of: readonly ResourceKey[];
      readonly limit: number;
    }
  /** Which of these current resources of a type fulfil a condition. Answer: their ids, in any order. */
  | { readonly ask: 'within'; readonly type: string; readonly where: Condition; readonly of: readonly string[] }
  /**
   * Versions, the current one where none is named. Answer: `(StoredVersion | undefined)[]`, in their order; it may end
   * where bodies are larger together than `room`, in characters.
   */
  | { readonly ask: 'read'; readonly of: readonly VersionKey[]; readonly room: number };

/** Target of a canonical: its URL, its version, and the types that it may have. */
export interface CanonicalTarget {
  /** Absent: any type. */
  readonly types?: readonly string[];
  readonly url: string;
  readonly version?: string;
}

/** Names a resource, or a version of it. */
export interface VersionKey extends ResourceKey {
  readonly version?: number;
}

/** Key of a resource, or version, that was found to be included. */
export interface FoundKey extends VersionKey {
  /** The version that is named counts only while it is the current one. */
  readonly isCurrentOnly?: true;
}

/** One step, or several at a time, which are answered by a list. */
export type Steps<T> = Generator<IncludeStep | readonly IncludeStep[], T, unknown>;

/** A resource, or a version of it, as text. */
export function nameOf({ type, id, version }: VersionKey): string {
  return version === undefined ? `${type}/${id}` : `${type}/${id}/${version}`;
}

/** Collects where every step is answered at once. */
export function runSteps<T>(steps: Steps<T>, answer: (step: IncludeStep) => unknown): T {
  let at = steps.next();
  while (at.done !== true) at = steps.next('ask' in at.value ? answer(at.value) : at.value.map(answer));
  return at.value;
}

/** Collects like `runSteps` where answers come asynchronously. */
export async function runStepsLater<T>(steps: Steps<T>, answer: (step: IncludeStep) => Promise<unknown>): Promise<T> {
  let at = steps.next();
  while (at.done !== true) {
    at = steps.next('ask' in at.value ? await answer(at.value) : await Promise.all(at.value.map(answer)));
  }
  return at.value;
}

/** Asks for one step. */
export function* ask<T>(step: IncludeStep): Steps<T> {
  return (yield step) as T;
}
