import type { Document } from 'mongodb';

import type { Plan } from '../plan/plan.js';
import type { Held, Need } from './held.js';
import type { Links } from './links.js';

/** Thrown where it is clear that the other side of a link is the better one to begin at. */
export class TooFar extends Error {}

/** How far is gone. */
export interface Reach {
  /** Whether to give up (`TooFar`) where one resource is referred to by far too many. */
  readonly isTrying: boolean;
}

/** How resources of a type are asked whether they fulfil a plan: by filters first, then by its links. */
export interface Asked {
  /** One filter, for which no index is chosen. */
  readonly filter: Document;
  readonly projection: Document;
  /** Those of what came of it that do. */
  keep(held: readonly Held[], reach: Reach): Promise<readonly Held[]>;
  readonly hasLinks: boolean;
}

/** How resources beyond a link are asked, which may have links of their own. */
export interface Beyond {
  /** @param need what is needed besides */
  toAsked(links: Links, type: string, plan: Plan, need?: Need): Asked;
  /** Those of some keys of a type whose resources fulfil a plan. */
  holdKeys(links: Links, type: string, plan: Plan, keys: readonly string[], reach: Reach): Promise<ReadonlySet<string>>;
}
