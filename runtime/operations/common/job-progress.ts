import type { Job } from '../../core/jobs.js';
import { formatInstant } from '../../fhir/instant.js';

/** How far a job is, for `X-Progress`: at most 100 characters. https://hl7.org/fhir/R5/async-bulk.html */
export function describeProgress({ state, created, started, ended, progress }: Job): string {
  const { done, total, unit } = progress;
  if (state === 'queued') return `not started yet, waiting since ${formatInstant(created)}`;
  if (state === 'finalizing') return `being finalized, ${done} ${unit}`;
  if (ended !== undefined) return `${state} at ${formatInstant(ended)}, ${done} ${unit}`;
  const share = total === undefined || total === 0 ? '' : ` of ${total} (${Math.floor((100 * done) / total)} %)`;
  return `in progress since ${formatInstant(started ?? created)}, ${done}${share} ${unit}`;
}

/** Pause after which to ask again, in seconds: longer for a longer job. */
const PAUSES = { least: 1, most: 120, share: 0.1 };

/** After which a client should ask again for the state of a job that has not ended, in seconds. */
export function pauseBefore({ created }: Pick<Job, 'created'>): number {
  const seconds = (Date.now() - created) / 1000;
  return Math.ceil(Math.min(PAUSES.most, Math.max(PAUSES.least, seconds * PAUSES.share)));
}
