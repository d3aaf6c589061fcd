import type { Principal } from '../scopes/principal.js';

/** A job, and what it hands out. */
export interface OwnedJob {
  /** Client that started it. */
  readonly clientId: string;
  /** What the request that started it needed, by type. */
  readonly covers: readonly { readonly type: string; readonly letters: string }[];
}

/**
 * Whether a job is shown to a client: to the one that started it, while its scopes cover all of each type that the job
 * covers. To others it is unknown (404). https://hl7.org/fhir/uv/bulkdata/
 */
export function isOwner({ clientId, access }: Principal, job: OwnedJob): boolean {
  return clientId === job.clientId && job.covers.every(({ type, letters }) => access.isWhole(type, letters));
}
