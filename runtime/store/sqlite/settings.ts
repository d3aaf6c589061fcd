import { PRECONDITION_BUDGET } from '../precondition-budget.js';
import type { FileIdentity } from './file/file-identity.js';

/** Where a test ends the process by SIGKILL, in the order of a write. */
export const FAULT_STEPS = [
  'stage',
  'begin',
  'preconditions',
  'version',
  'entries',
  'commit',
  'committed',
  'answered',
  'piece',
] as const;

/** One of the steps. */
export type FaultStep = (typeof FAULT_STEPS)[number];

/** Options of the store; each has a default. Times are in milliseconds. */
export interface SqliteOptions {
  /** The clock, for tests. Absent: the system's, asked under the write lock. */
  readonly now?: () => number;
  /** Threads for history, counts and searches. */
  readonly readers?: number;
  /** How long a query may take. */
  readonly queryBudget?: number;
  /** How long the searches of a write's preconditions may take, all together. */
  readonly preconditionBudget?: number;
  /** How long a write waits for another process before its client is asked to try again. */
  readonly lockWait?: number;
  /** How long the pieces of a dead upload, or of a blob that was deleted under its readers, are kept. */
  readonly blobGrace?: number;
  /** How often what expired is looked for. */
  readonly cleanInterval?: number;
  /** Greatest size of the file, in pages, for tests of a full disk. */
  readonly maxPages?: number;
  /** For tests of crashes: the process kills itself at this step. */
  readonly faultAt?: FaultStep;
  /** How often it passes the step before. */
  readonly faultAfter?: number;
}

/** Settings that threads get, as plain data. */
export interface ThreadSettings extends Omit<Required<SqliteOptions>, 'now' | 'maxPages' | 'faultAt'> {
  readonly file: string;
  /** Of the file that the store opened. */
  readonly identity: FileIdentity;
  /** The file ends with the process, so nothing need be synced. */
  readonly isTemporary: boolean;
  readonly maxPages: number | undefined;
  readonly faultAt: FaultStep | undefined;
}

/** The options with their defaults filled in. */
export function toThreadSettings(
  place: Pick<ThreadSettings, 'file' | 'identity' | 'isTemporary'>,
  options: SqliteOptions,
): ThreadSettings {
  return {
    ...place,
    readers: options.readers ?? 2,
    queryBudget: options.queryBudget ?? 10_000,
    preconditionBudget: options.preconditionBudget ?? PRECONDITION_BUDGET,
    lockWait: options.lockWait ?? 10_000,
    blobGrace: options.blobGrace ?? 3_600_000,
    cleanInterval: options.cleanInterval ?? 60_000,
    maxPages: options.maxPages,
    faultAt: options.faultAt,
    faultAfter: options.faultAfter ?? 0,
  };
}
