import { FhirError } from '../../fhir/errors.js';

/** Polls of one job within a second. */
const MOST = 10;

const SECOND = 1000;

/** Jobs that are remembered. */
const JOBS = 10_000;

/** Counts how often clients ask for the state of jobs and their answers. */
export interface PollLimit {
  /** @throws FhirError `asked-too-often` where the job was asked for more than ten times within a second */
  check(job: string): void;
}

/** @param now in milliseconds */
export function openPollLimit(now: () => number = () => performance.now()): PollLimit {
  const seconds = new Map<string, { readonly since: number; count: number }>();
  return {
    check(job) {
      const second = seconds.get(job);
      if (second === undefined || now() - second.since >= SECOND) {
        if (seconds.size >= JOBS) seconds.clear();
        seconds.set(job, { since: now(), count: 1 });
        return;
      }
      if (++second.count > MOST) {
        const text = `The state of a job and its answer may be asked for ${MOST} times in a second; the job goes on`;
        throw new FhirError('asked-too-often', text, { headers: { 'Retry-After': '1' } });
      }
    },
  };
}
