import type { PlanLimits } from '../../plan/limits.js';
import type { LinkLimits } from './links/limits.js';
import type { Snapshots } from '../read/snapshot.js';
import type { SlotOf } from '../bson/sort-slots.js';
import type { Probes } from './plan/probe.js';
import type { SearchTurns } from './run-search.js';

/** Parts of the store that searches need. */
export interface FindParts {
  readonly snapshots: Snapshots;
  readonly turns: SearchTurns;
  readonly probes: Probes;
  readonly slotOf: SlotOf;
  /** Whether canonicals may name resources of a type. */
  readonly isNameable: (type: string) => boolean;
  readonly linkLimits: LinkLimits;
  readonly planLimits: PlanLimits;
  /** The server's time. */
  readonly now: () => number;
}
