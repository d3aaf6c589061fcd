import type { Access } from '../../auth/scopes/access.js';
import type { CodeSet } from '../../search/query/query.js';
import type { Services } from '../services.js';

/** A code of a system. */
export interface FoundCode {
  readonly system: string;
  readonly code: string;
}

/** Who asks for codes. */
export interface CodeReader {
  /** Value sets and code systems outside are unknown. */
  readonly access: Access;
  readonly signal: AbortSignal | undefined;
}

/**
 * The codes that a search means by a value set, or by what is above or below a code, itself included.
 *
 * @throws FhirError `parameter-invalid` for what is unknown, `value-set-invalid`, `expansion-too-costly`
 */
export type CodeFinder = (
  set: CodeSet,
  reader: CodeReader,
  services: Pick<Services, 'store' | 'tables' | 'indexStatus' | 'largeTexts'>,
) => Promise<readonly FoundCode[]>;

/** Codes that one search may look for. */
export const MOST_SEARCHED_CODES = 5000;
