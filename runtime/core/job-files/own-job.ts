import { scopesIn, standingOf } from '../../auth/access/owner.js';
import { scopeMissing } from '../../auth/access/refuse.js';
import type { Call } from '../call.js';
import type { Job } from '../jobs.js';
import type { Services } from '../services.js';

/** What it is decided by whether a job is a client's own. */
type Asking = Pick<Call, 'principal'>;

/**
 * A job as far as it is known to the client that asks.
 *
 * @returns undefined: there is none, or none of this client
 * @throws FhirError `scope-missing` where the token gives less than the one that started it
 */
export function ownJob(job: Job | undefined, call: Asking, { tables }: Pick<Services, 'tables'>): Job | undefined {
  if (job === undefined) return undefined;
  const { owner } = job;
  const standing = standingOf(call.principal, owner, tables);
  if (standing === 'narrower') throw scopeMissing(scopesIn(owner.scope ?? ''), call.principal.access);
  return standing === 'owner' ? job : undefined;
}

/** Whether a job is the client's own, and its token gives all that the job was started with. */
export function isOwnJob({ owner }: Job, call: Asking, { tables }: Pick<Services, 'tables'>): boolean {
  return standingOf(call.principal, owner, tables) === 'owner';
}
