import type { Interaction } from '../contract/index.js';
import type { JsonObject, JsonValue } from '../fhir/resource.js';

/** Conditions that a client sets with headers. https://hl7.org/fhir/R5/http.html#concurrency */
export interface Conditions {
  readonly ifMatch?: string;
  readonly ifNoneMatch?: string;
  readonly ifNoneExist?: string;
  /** Milliseconds since the epoch. */
  readonly ifModifiedSince?: number;
}

/** Wishes of the header `Prefer`. https://hl7.org/fhir/R5/http.html#ops */
export interface Preferences {
  readonly return?: 'minimal' | 'representation' | 'OperationOutcome';
  readonly handling?: 'strict' | 'lenient';
}

/** One request, whether it came over HTTP, as an entry of a Bundle, or from a test. */
export interface Call {
  readonly interaction: Interaction;
  readonly type?: string;
  readonly id?: string;
  readonly versionId?: string;
  readonly params: URLSearchParams;
  /** The parsed body; absent: there is none. */
  readonly body?: JsonValue;
  readonly conditions: Conditions;
  readonly prefer: Preferences;
}

/** The answer to a call. At most one of `resource` and `json` is set; none of them: an answer without a body. */
export interface Reply {
  readonly status: number;
  readonly resource?: JsonObject;
  /** A resource as the store holds it: JSON text. */
  readonly json?: string;
  /** Version id, as the `ETag` names it. */
  readonly versionId?: string;
  /** Milliseconds since the epoch. */
  readonly lastUpdated?: number;
  /** URL of what was created, relative to the base. */
  readonly location?: string;
}
