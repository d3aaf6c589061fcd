import type { Document } from 'mongodb';

import type { Plan } from '../plan/plan.js';
import type { Candidate, Need } from './candidate.js';
import type { Links } from './links.js';

/** Thrown where it is clear that the other side of a link is the better one to begin at. */
export class TooFar extends Error {}

/** How much is done before it is given up. */
export interface Effort {
  /** Whether to give up (`TooFar`) where one resource is referred to by far too many. */
  readonly isTrying: boolean;
}

/** How resources of a type are asked whether they fulfil a plan: by filters first, then by its links. */
export interface TargetFilter {
  /** One filter, for which no index is chosen. */
  readonly filter: Document;
  readonly projection: Document;
  /** Those of what came of it that do. */
  keep(candidates: readonly Candidate[], effort: Effort): Promise<readonly Candidate[]>;
  readonly hasLinks: boolean;
}

/** How resources beyond a link are asked, which may have links of their own. */
export interface Targets {
  /** @param need what is needed besides */
  toTargetFilter(links: Links, type: string, plan: Plan, need?: Need): TargetFilter;
  /** Those of some keys of a type whose resources fulfil a plan. */
  filterKeys(
    links: Links,
    type: string,
    plan: Plan,
    keys: readonly string[],
    effort: Effort,
  ): Promise<ReadonlySet<string>>;
}
