import type { Services } from '../../services.js';

/** A parameter as it was sent. */
export interface SentParameter {
  readonly name: string;
  readonly value: string;
  readonly isInUrl: boolean;
}

/** What a search is read from. */
export interface SearchInput {
  /** The type whose parameters count; absent: those that all types have do. */
  readonly type?: string;
  /** Without `type`: the types that are searched, of which `_type` chooses. Absent: all. */
  readonly types?: readonly string[];
  readonly params: readonly SentParameter[];
  /** What nobody knows is left out instead of refused. */
  readonly isLenient: boolean;
  /** Not in a URL: longer lists may come. */
  readonly isPosted: boolean;
  /** Milliseconds since the epoch, for `ap` of dates. */
  readonly now: number;
  /** URL of the FHIR base; empty: nobody knows. */
  readonly base: string;
}

/** What a search is read with. */
export type SearchServices = Pick<Services, 'tables' | 'zone' | 'search' | 'subset'>;
