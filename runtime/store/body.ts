import { formatInstant } from '../fhir/instant.js';

/**
 * JSON text of a resource with a gap in `meta` for what only the store knows: the version and the time, which it gives
 * under its write lock. Text, so that it crosses to another thread as it is.
 */
export interface BodyTemplate {
  /** Ends with `"meta":{`. */
  readonly head: string;
  /** Begins with `}`, or with `,` where `meta` has more. */
  readonly tail: string;
}

/** The text with its gap filled: `meta.versionId` and `meta.lastUpdated` set. */
export function stampBody(body: BodyTemplate, version: number, lastUpdated: number): string {
  return `${body.head}"versionId":"${version}","lastUpdated":"${formatInstant(lastUpdated)}"${body.tail}`;
}
