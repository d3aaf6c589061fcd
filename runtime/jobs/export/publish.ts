import { NONE_NEEDED } from '../../auth/access/needed-scopes.js';
import { SERVER } from '../../auth/scopes/principal.js';
import { ENDED, type Job, type Jobs } from '../../core/jobs.js';
import type { ExportFile } from '../../core/job-files/read-job-file.js';
import {
  discardPublished,
  PUBLISH,
  publishedKey,
  readPublication,
  removePublished,
  replacePublication,
  type Publication,
  type PublicationRow,
  type PublishedFile,
} from '../../core/bulk-data/publication.js';
import type { PublishSettings } from '../../core/services.js';
import type { JsonObject } from '../../fhir/resource.js';
import type { Store } from '../../store/store.js';
import type { ExportInput } from './export-input.js';
import { instantOf } from './export-instant.js';

/** How long files can be read after they are not listed any more, in milliseconds. */
const GRACE = 24 * 3_600_000;

/** Least time between two snapshots of different types, in milliseconds. */
const OTHER = 60_000;

/** What a snapshot may be added to: so often, up to so many files, and so long after it, in milliseconds. */
const MOST = { steps: 100, files: 500, age: 7 * 24 * 3_600_000 };

/** Parts that publishing works with. */
export interface PublishParts {
  readonly store: Pick<Store, 'maps' | 'blobs' | 'history'>;
  readonly jobs: Pick<Jobs, 'start' | 'read' | 'cancel' | 'remove'>;
  readonly settings: PublishSettings;
  /** Milliseconds since the epoch. */
  readonly now: () => number;
}

/**
 * One look at what is published: takes in what a job has made, starts the next one when it is time, and removes what was replaced long
 * enough ago. Of several processes that look, one does each of these.
 */
export async function publishOn(parts: PublishParts): Promise<void> {
  const { store, jobs, settings, now } = parts;
  const row = await readPublication(store);
  if (row === undefined) return start(undefined, 'snapshot', parts);
  const { publication } = row;
  const over = publication.former.filter(({ until }) => until <= now());
  if (over.length > 0) {
    const former = publication.former.filter(({ until }) => until > now());
    if (await replacePublication(store, row, { ...publication, former })) await removePublished(over, store);
    return;
  }
  if (publication.next !== undefined) {
    const job = await jobs.read(publication.next);
    if (job === undefined || ENDED.has(job.state)) await takeIn(job, row, parts);
    return;
  }
  const isOther = JSON.stringify(publication.types) !== JSON.stringify(settings.types);
  // Two processes that are to publish different types must not do so by turns all the time.
  const pause = isOther ? Math.min(settings.every, OTHER) : settings.every;
  if (now() - publication.asked < pause) return;
  await start(row, isOther || isFull(publication, now()) ? 'snapshot' : 'changes', parts);
}

function isFull({ steps, files, epoch }: Publication, now: number): boolean {
  return epoch === undefined || steps >= MOST.steps || files.length >= MOST.files || now - epoch > MOST.age;
}

/** Starts the job that makes a snapshot, or what changed since the last one. */
async function start(
  row: PublicationRow | undefined,
  what: 'snapshot' | 'changes',
  { store, jobs, settings: { types }, now }: PublishParts,
): Promise<void> {
  const transactionTime = await instantOf(store);
  const before = row?.publication ?? { types, time: 0, steps: 0, files: [], former: [] };
  const plain = { transactionTime, request: '$bulk-publish', base: '', asked: '', types, isHistory: false };
  const all: ExportInput = { ...plain, parts: types.map((type) => ({ type })) };
  const deletions = before.files.flatMap(({ job, name, isOfDeleted }) => isOfDeleted === true ? [publishedKey(job, name)] : []); // prettier-ignore
  const input = what === 'snapshot' ? all : { ...all, since: before.time, deletions };
  // Where the clock of another process is ahead, there is nothing to add yet.
  if (what === 'changes' && transactionTime <= before.time) return;
  const { id } = await jobs.start(PUBLISH, input as unknown as JsonObject, SERVER, NONE_NEEDED);
  if (await replacePublication(store, row, { ...before, next: id, asked: now() })) {
    if (row === undefined) await removeOthers(id, store);
    return;
  }
  await jobs.cancel(id);
  await jobs.remove(id);
}

/** Removes files that no publication lists, such as those of a store that this one is a copy of. */
async function removeOthers(job: string, { blobs }: PublishParts['store']): Promise<void> {
  for (const { key } of await blobs.list(`${PUBLISH}/`))
    if (!key.startsWith(publishedKey(job, ''))) await blobs.delete(key);
}

/** Publishes what a job has made; where it made nothing, it is tried again when it is time. */
async function takeIn(job: Job | undefined, row: PublicationRow, parts: PublishParts): Promise<void> {
  const { store, jobs, now } = parts;
  const { next, ...publication } = row.publication;
  const made = job?.state === 'completed' ? job : undefined;
  if (made === undefined) {
    if (!(await replacePublication(store, row, publication))) return;
    if (next !== undefined) await discardPublished(next, store);
  } else if (made.result?.['restarts'] === true) {
    await start(row, 'snapshot', parts);
  } else {
    const { transactionTime, since, types } = made.input as unknown as ExportInput;
    const files = (made.result?.['files'] as unknown as readonly ExportFile[]).map(
      ({ name, type, count, isOfDeleted }, at): PublishedFile => {
        return { name, type, count, ...(isOfDeleted !== undefined && { isOfDeleted }), job: made.id, at };
      },
    );
    const replaced = { types: publication.types, files: publication.files, until: now() + GRACE };
    const former = publication.files.length === 0 ? [] : [replaced];
    const changed: Partial<Publication> =
      since === undefined
        ? { types, epoch: transactionTime, steps: 0, files, former: [...publication.former, ...former] }
        : { steps: publication.steps + 1, files: [...publication.files, ...files] };
    await replacePublication(store, row, { ...publication, ...changed, time: transactionTime });
  }
  if (next !== undefined) await jobs.remove(next);
}
