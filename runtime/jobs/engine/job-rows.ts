import type { Job } from '../../core/jobs.js';
import type { Store } from '../../store/store.js';

/** The map that holds jobs, by id. */
export const JOB_MAP = 'job';

/** A job as read: its text is what the store compares before it replaces it. */
export interface JobRow {
  readonly text: string;
  readonly job: Job;
}

/** The rows of jobs. Every change names the row that it replaces, so of two changes at once one fails. */
export interface JobRows {
  add(job: Job): Promise<JobRow>;
  get(id: string): Promise<JobRow | undefined>;
  all(): Promise<readonly JobRow[]>;
  /** @returns undefined: the row is another by now, or gone */
  replace(row: JobRow, next: Job): Promise<JobRow | undefined>;
  remove(id: string): Promise<void>;
}

/** Opens the rows of a store. */
export function openJobRows({ maps }: Pick<Store, 'maps'>): JobRows {
  const toRow = (text: string): JobRow => ({ text, job: JSON.parse(text) as Job });
  const get = async (id: string): Promise<JobRow | undefined> => {
    const text = await maps.get(JOB_MAP, id);
    return text === undefined ? undefined : toRow(text);
  };
  const swap = async (id: string, before: string | undefined, job: Job): Promise<JobRow | undefined> => {
    const text = JSON.stringify(job);
    if (await maps.swap(JOB_MAP, id, before, text)) return { text, job };
    // A swap whose answer was lost on the way is repeated, and finds what it wrote itself.
    return (await maps.get(JOB_MAP, id)) === text ? { text, job } : undefined;
  };
  return {
    async add(job) {
      const row = await swap(job.id, undefined, job);
      if (row === undefined) throw new Error(`there is a job ${job.id} already`);
      return row;
    },
    get,
    async all() {
      const rows = [...(await maps.entries(JOB_MAP)).values()].map(toRow);
      return rows.sort((a, b) => a.job.created - b.job.created || (a.job.id < b.job.id ? -1 : 1));
    },
    replace: (row, next) => swap(row.job.id, row.text, next),
    remove: (id) => maps.delete(JOB_MAP, id),
  };
}
