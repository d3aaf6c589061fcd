import type { Negotiated } from '../format/negotiate.js';

/** How an answer is to look. */
export interface Presentation extends Negotiated {
  /** `_pretty`: indented. */
  readonly pretty: boolean;
  readonly requestId: string;
}
