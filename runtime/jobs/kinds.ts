import type { JobKind } from './engine/job-kind.js';

/** The kinds of jobs that a server works on. What a kind needs is loaded when the first job of it runs. */
export const JOB_KINDS: readonly JobKind[] = [];
