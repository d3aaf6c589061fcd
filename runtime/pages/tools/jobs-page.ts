import { ENDED, type Job } from '../../core/jobs.js';
import { formatInstant } from '../../fhir/instant.js';
import { template } from '../engine.js';
import { framedPage, type Page } from '../framed.js';
import type { Paths, Site } from '../site.js';

interface JobLine {
  readonly id: string;
  readonly type: string;
  readonly state: string;
  readonly created: string;
  readonly ended: string;
  readonly done: number;
  readonly of: string;
  readonly unit: string;
  /** Absent: how much there is in all is unknown. */
  readonly total: number | undefined;
  readonly isRunning: boolean;
  readonly failure: string;
}

const render = template<{ paths: Paths; jobs: readonly JobLine[]; isGuarded: boolean }>('jobs');

/** The page of jobs with their progress, the newest first. @param jobs those that the client may know of */
export function jobsPage(jobs: readonly Job[], site: Site, paths: Paths): Page {
  const lines = jobs.map(lineOf).reverse();
  return framedPage(site, paths, 'Jobs', render({ paths, jobs: lines, isGuarded: site.isGuarded }));
}

function lineOf({ id, type, state, created, ended, progress, failure = '' }: Job): JobLine {
  const { done, total, unit } = progress;
  return {
    ...{ id, type, state, done, unit, failure },
    created: formatInstant(created),
    ended: ended === undefined ? '' : formatInstant(ended),
    of: total === undefined ? '' : ` of ${total}`,
    total: total === undefined || total === 0 ? undefined : total,
    isRunning: !ENDED.has(state),
  };
}
