import type { Document } from 'mongodb';

import { PRECONDITION_BUDGET } from '../precondition-budget.js';
import type { SlotOf } from './bson/sort-slots.js';
import { LINK_LIMITS, type LinkLimits } from './query/links/limits.js';
import { MONGO_LIMITS, type PlanLimits } from '../plan/limits.js';

/** Where a test ends the process by SIGKILL, in the order of a write. */
export const FAULT_STEPS = [
  'begin',
  'preconditions',
  'history',
  'resource',
  'commit',
  'committed',
  'answered',
  'piece',
] as const;

/** One of the steps. */
export type FaultStep = (typeof FAULT_STEPS)[number];

/** Options of the store; each has a default. Times are in milliseconds. */
export interface MongoOptions {
  /** The clock, for tests. Absent: the server's. */
  readonly now?: () => number;
  /** How long a query may take: history, counts, scans. */
  readonly queryBudget?: number;
  /** How long the search of a write's precondition may take. */
  readonly preconditionBudget?: number;
  /** Connections of this process, at most. */
  readonly poolSize?: number;
  /** How long any other read or a write may take, waiting and repeating included. */
  readonly operationTime?: number;
  /** How long it may take to find the server, or a primary. */
  readonly selectionTime?: number;
  /** How long the pieces of a dead upload, or of a blob that was deleted under its readers, are kept. */
  readonly blobGrace?: number;
  /** How often they are looked for. */
  readonly cleanInterval?: number;
  /** How long the log goes on after it was needed last, in milliseconds: the setting `log.keep`. */
  readonly logKeep?: number;
  /** Refuses a database that holds no data of Kiln, instead of making it one. */
  readonly existing?: boolean;
  /** The sort slot of a parameter, as the tables have it. Absent: nothing can be sorted. */
  readonly slotOf?: SlotOf;
  /** Whether resources of a type have URLs by which canonicals name them. Absent: they may, of each type. */
  readonly isNameable?: (type: string) => boolean;
  /** For tests: how far the sides of chains and reverse chains are looked at. */
  readonly linkLimits?: LinkLimits;
  /** Where one plan of a search gives way to another; for tests. */
  readonly planLimits?: PlanLimits;
  /** For tests: sees each command that is sent. */
  readonly onCommand?: (name: string, command: Document) => void;
  /** Sees each command that has ended, with the milliseconds that it took; absent: the driver does not watch commands. */
  readonly onCommandEnd?: (name: string, milliseconds: number, failed: boolean) => void;
  /** For tests of crashes: the process kills itself at this step. */
  readonly faultAt?: FaultStep;
  /** How often it passes the step before. */
  readonly faultAfter?: number;
}

/** The settings, complete. */
export type MongoSettings = Required<Omit<MongoOptions, OptionalSetting>> & Pick<MongoOptions, OptionalSetting>;

type OptionalSetting = 'now' | 'onCommand' | 'onCommandEnd' | 'faultAt';

/** The options with their defaults filled in. */
export function toSettings(options: MongoOptions): MongoSettings {
  return {
    queryBudget: 10_000,
    preconditionBudget: PRECONDITION_BUDGET,
    poolSize: 50,
    operationTime: 10_000,
    selectionTime: 8000,
    blobGrace: 3_600_000,
    cleanInterval: 60_000,
    logKeep: 7 * 86_400_000,
    existing: false,
    slotOf: () => undefined,
    isNameable: () => true,
    faultAfter: 0,
    linkLimits: LINK_LIMITS,
    planLimits: MONGO_LIMITS,
    ...options,
  };
}
