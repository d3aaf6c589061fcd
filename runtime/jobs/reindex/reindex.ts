import { append } from '../../fhir/lists.js';
import { FhirError } from '../../fhir/errors.js';
import type { Limits } from '../../fhir/limits.js';
import { clientMeta, withMeta } from '../../fhir/meta.js';
import { yieldToEventLoop, type Yield } from '../../fhir/yield-to-event-loop.js';
import { CUT_ENTRY, CUT_REASON, extractContainedYielding } from '../../indexing/contained.js';
import { EVERYTHING, type Condition } from '../../search/query/query.js';
import type { FindPage, Reindexed, Store, StoredVersion } from '../../store/store.js';
import { cutByMembers } from '../../store/write-contained.js';
import type { ReindexRecord } from './reindex-record.js';
import type { Services } from '../../core/services.js';
import { fitUnlessFitted, parsedIndexEntries, readWithEntries } from '../../core/write/parsed-entries.js';
import { countEntries } from '../../store/change-pieces.js';

/** Parts that reindexing a page works with. */
export interface ReindexPageJob extends Pick<Services, 'extract' | 'refit' | 'largeTexts'> {
  readonly store: Pick<Store, 'find' | 'reindex'>;
  /** When it aborts, reindexing stops before the next page. */
  readonly signal: AbortSignal;
  readonly limits: Pick<Limits, 'resource'>;
  /** Called for a resource with contained resources that searches cannot find, with the reason. */
  readonly onUnindexed?: (version: StoredVersion, reason: string) => void;
  /** Called for a resource of which no entries can be made: it keeps those that it has. Absent: reindexing fails. */
  readonly onFailure?: (version: StoredVersion, error: unknown) => void;
  /** To be awaited between resources. */
  readonly breathe: Yield;
}

/** Parts that reindexing a type works with. */
export interface ReindexJob extends Omit<ReindexPageJob, 'breathe'> {
  readonly record: ReindexRecord;
  /** Retries an action while the store is temporarily unavailable. */
  readonly persist: <T>(action: () => Promise<T>) => Promise<T>;
  /** Called after each page with its number of resources. */
  readonly onStep: (count: number) => void;
}

/** Greatest size of one page: JSON text in characters, and resources. */
const PAGE_TEXT = 4 * 1024 * 1024;
const MAX_PAGE = 500;

/** Resources between two saved cursors. */
const REMEMBERED = 2000;

/**
 * Extracts the index entries of all resources of a type again, page by page, while clients read and write. Resources
 * that a client writes meanwhile are skipped: their entries are new. Resumes at the saved cursor.
 *
 * @returns how many resources have new entries
 */
export async function reindexType(type: string, job: ReindexJob): Promise<number> {
  const { record, signal, persist } = job;
  const begun = await persist(() => record.read(type));
  if (begun.isDone) return 0;
  let { after } = begun;
  let replaced = 0;
  let size = FIRST_PAGE;
  let unsaved = 0;
  const store: ReindexPageJob['store'] = {
    find: (...asked) => persist(() => job.store.find(...asked)),
    reindex: (items) => persist(() => job.store.reindex(items)),
  };
  const pageJob = { ...job, store, breathe: yieldToEventLoop() };
  for (;;) {
    const page = await reindexPage({ type, size, after }, pageJob);
    replaced += page.replaced;
    job.onStep(page.looked);
    if (page.next === undefined) break;
    after = page.next;
    ({ size } = page);
    unsaved += page.looked;
    if (unsaved < REMEMBERED && !signal.aborted) continue;
    unsaved = 0;
    const cursor = after;
    await persist(() => record.advance(type, cursor));
  }
  await persist(() => record.finish(type));
  return replaced;
}

/** Resources of the first page of a type: how large they are is not known yet. */
export const FIRST_PAGE = 20;

/** A page of the resources of a type. */
export interface ReindexPlace {
  readonly type: string;
  /** Greatest number of resources. */
  readonly size: number;
  /** `next` of the page before. */
  readonly after: string | undefined;
  /** Absent: all resources of the type. */
  readonly where?: Condition;
}

/** Result of reindexing a page. */
export interface ReindexedPage {
  /** Resources on it. */
  readonly looked: number;
  /** Those whose entries were replaced: the others were written meanwhile. */
  readonly replaced: number;
  /** Absent: this was the last page. */
  readonly next?: string;
  /** A good size for the next page. */
  readonly size: number;
}

/** Extracts the index entries of a page of resources again. Doing it twice does no harm. */
export async function reindexPage(
  { type, size, after, where = EVERYTHING }: ReindexPlace,
  job: ReindexPageJob,
): Promise<ReindexedPage> {
  const { store, signal } = job;
  signal.throwIfAborted();
  const query = { type, where, sort: [], count: size, total: 'none' as const };
  const find = (from: string | undefined) => store.find({ ...query, ...(from !== undefined && { after: from }) });
  const page: FindPage = await find(after).catch((error: unknown) => {
    // Another version of the program saved this cursor: start the type again.
    if (after === undefined || !(error instanceof FhirError) || error.code !== 'page-invalid') throw error;
    return find(undefined);
  });
  const items: Reindexed[] = [];
  for (const version of page.versions) {
    try {
      append(items, await toReindexed(version, job));
    } catch (error) {
      if (job.onFailure === undefined) throw error;
      job.onFailure(version, error);
    }
  }
  let replaced = 0;
  for (const piece of cutByMembers(items, countEntries)) replaced += await store.reindex(piece);
  const { next } = page;
  return { looked: page.versions.length, replaced, size: nextSize(page), ...(next !== undefined && { next }) };
}

/** Page size at which the next page has about `PAGE_TEXT` characters, if its resources are as large as these. */
function nextSize({ versions }: FindPage): number {
  const text = versions.reduce((sum, { json = '' }) => sum + json.length, 0);
  const each = Math.max(1, text / Math.max(1, versions.length));
  return Math.max(1, Math.min(MAX_PAGE, Math.floor(PAGE_TEXT / each)));
}

/** The index entries, extracted as on a write: from the content without the `meta` elements that the server sets. */
async function toReindexed(
  stored: StoredVersion,
  { extract, refit, largeTexts, limits, onUnindexed, breathe }: ReindexPageJob,
): Promise<Reindexed[]> {
  const { type, id, version, amended, json } = stored;
  if (json === undefined) return [];
  const { content, known } = await readWithEntries(json, { largeTexts });
  const resource = withMeta(content, id, clientMeta(content));
  const made = known === undefined ? extract(resource) : parsedIndexEntries(resource, known, extract);
  const all = refit(resource, made);
  await breathe();
  const { contained, isCut } = known ?? (await extractContainedYielding(resource, extract, limits.resource, breathe));
  if (isCut) onUnindexed?.(stored, CUT_REASON);
  const knownOfAll = all === made ? known : undefined;
  const entries = fitUnlessFitted(isCut ? [...all, CUT_ENTRY] : all, resource, json.length, knownOfAll);
  await breathe();
  return [{ type, id, version, ...(amended !== undefined && { amended }), entries, contained }];
}
