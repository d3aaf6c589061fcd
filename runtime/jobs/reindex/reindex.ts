import { FhirError } from '../../fhir/errors.js';
import { DEFAULT_LIMITS, type Limits } from '../../fhir/limits.js';
import { clientMeta, withMeta } from '../../fhir/meta.js';
import { yieldToEventLoop, type Yield } from '../../fhir/yield-to-event-loop.js';
import type { Resource } from '../../fhir/resource.js';
import { readJson } from '../../format/read-json.js';
import { CUT_ENTRY, CUT_REASON, extractContainedYielding } from '../../search/contained.js';
import { EVERYTHING } from '../../search/query/query.js';
import { fitWords } from '../../search/text/fit-words.js';
import type { FindPage, Reindexed, Store, StoredVersion } from '../../store/store.js';
import { cutByMembers } from '../../store/write-contained.js';
import type { ReindexRecord } from './reindex-record.js';
import type { Services } from '../../core/services.js';

/** What reindexing works with. */
export interface ReindexJob extends Pick<Services, 'extract'> {
  readonly store: Pick<Store, 'find' | 'reindex'>;
  readonly record: ReindexRecord;
  /** Aborts: it stops after the page in hand. */
  readonly signal: AbortSignal;
  /** Told how many resources were looked at. */
  readonly onStep: (count: number) => void;
  /** Absent: those where the configuration says nothing. */
  readonly limits?: Pick<Limits, 'resource'>;
  /** Told of a resource that contains some that searches do not find, and why. */
  readonly onUnindexed?: (version: StoredVersion, reason: string) => void;
  /** Does something again while the store says that it cannot serve at the moment. */
  readonly persist?: <T>(action: () => Promise<T>) => Promise<T>;
}

/** Text of one page, in characters, and most resources on it. */
const PAGE_TEXT = 4 * 1024 * 1024;
const MAX_PAGE = 500;

/** Pages between two places that are remembered, counted in resources. */
const REMEMBERED = 2000;

/** Resources that are deeper than clients may write them now. */
const DEPTH = 10_000;

/**
 * Makes the index entries of all resources of a type anew, page by page, while others read and write. What somebody
 * writes meanwhile is left alone: its entries are new. Goes on where it was stopped.
 *
 * @returns how many resources have new entries
 */
export async function reindexType(type: string, job: ReindexJob): Promise<number> {
  const { store, record, signal, persist = (action) => action() } = job;
  const begun = await persist(() => record.read(type));
  if (begun.isDone) return 0;
  let { after } = begun;
  let replaced = 0;
  let size = 20;
  let unsaved = 0;
  const pace = yieldToEventLoop();
  for (;;) {
    signal.throwIfAborted();
    const query = { type, where: EVERYTHING, sort: [], count: size, total: 'none' as const };
    const find = (from: string | undefined) =>
      persist(() => store.find({ ...query, ...(from !== undefined && { after: from }) }));
    const page: FindPage = await find(after).catch((error: unknown) => {
      // A place that another version of the program remembered: the type is begun again.
      if (after === undefined || !(error instanceof FhirError) || error.code !== 'page-invalid') throw error;
      return find(undefined);
    });
    const items: Reindexed[] = [];
    for (const version of page.versions) items.push(...(await toReindexed(version, job, pace)));
    for (const piece of cutByMembers(items, ({ contained = [] }) => contained.length)) {
      replaced += await persist(() => store.reindex(piece));
    }
    job.onStep(page.versions.length);
    if (page.next === undefined) break;
    after = page.next;
    size = nextSize(page);
    unsaved += page.versions.length;
    if (unsaved < REMEMBERED && !signal.aborted) continue;
    unsaved = 0;
    const place = after;
    await persist(() => record.advance(type, place));
  }
  await persist(() => record.finish(type));
  return replaced;
}

/** The next page has about so much text as one may have, if its resources are as large. */
function nextSize({ versions }: FindPage): number {
  const text = versions.reduce((sum, { json = '' }) => sum + json.length, 0);
  const each = Math.max(1, text / Math.max(1, versions.length));
  return Math.max(1, Math.min(MAX_PAGE, Math.floor(PAGE_TEXT / each)));
}

/** As on a write: without what the server sets itself. */
async function toReindexed(
  stored: StoredVersion,
  { extract, limits = DEFAULT_LIMITS, onUnindexed }: ReindexJob,
  pace: Yield,
): Promise<Reindexed[]> {
  const { type, id, version, json } = stored;
  if (json === undefined) return [];
  const content = readJson(json, DEPTH) as Resource;
  const resource = withMeta(content, id, clientMeta(content));
  const entries = extract(resource);
  const { contained, isCut } = await extractContainedYielding(resource, extract, limits.resource, pace);
  if (isCut) onUnindexed?.(stored, CUT_REASON);
  const all = isCut ? [...entries, CUT_ENTRY] : entries;
  await pace();
  return [{ type, id, version, entries: fitWords(all, resource, json.length), contained }];
}
