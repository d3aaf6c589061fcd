import type { Access } from '../../auth/scopes/access.js';

/** A code of a system. */
export interface FoundCode {
  readonly system: string;
  readonly code: string;
  /** The system says that case does not count. */
  readonly ignoresCase?: boolean;
}

/** Who asks for codes. */
export interface CodeReader {
  /** Value sets and code systems outside are unknown. */
  readonly access: Access;
  readonly signal: AbortSignal | undefined;
}

/** Codes that one search may look for. */
export const MOST_SEARCHED_CODES = 5000;
