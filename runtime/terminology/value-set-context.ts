import type { Concept, Designation } from './concepts.js';
import type { Effort } from './effort.js';
import type { Resolver, VersionRules } from './resolver.js';

/** A code of a value set. */
export interface Member {
  readonly system: string;
  readonly version?: string;
  readonly code: string;
  readonly display?: string;
  /** Of the display. */
  readonly language?: string;
  readonly designations: readonly Designation[];
  /** Absent: a rule or a list of the value set knows the code, and no code system. */
  readonly concept?: Concept;
  /** It is only there to group others. */
  readonly isAbstract: boolean;
  readonly isInactive: boolean;
}

/** A code to look for. */
export interface Coded {
  readonly system: string;
  readonly version?: string;
  readonly code: string;
}

/** The version of a code is not that of the value set. */
export interface Mismatch {
  readonly system: string;
  readonly used: string;
  readonly sent: string;
}

/** Context that value sets are read in. */
export interface ValueSetContext {
  readonly resolver: Resolver;
  readonly versions: VersionRules;
  readonly signal: AbortSignal | undefined;
  /** Canonicals of the code systems and value sets that were used. */
  readonly used: { readonly systems: Set<string>; readonly valueSets: Set<string> };
  /** Counts what all questions of one request cost; absent: each question is counted by itself. */
  readonly effort?: Effort;
  /** Where `findMember` notes that a code is of another version than the value set wants. */
  readonly mismatches?: Mismatch[];
}
