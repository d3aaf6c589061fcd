import { searchAccess } from '../../auth/access/search-access.js';
import type { JsonObject } from '../../fhir/resource.js';
import type { Condition } from '../../search/query/query.js';
import type { Reindexed } from '../../store/store.js';
import type { ChunkContext, ChunkResult } from '../engine/job-kind.js';
import { openReindexRecord, type ReindexRecord } from './reindex-record.js';
import { FIRST_PAGE, reindexPage } from './reindex.js';
import { writeReport, type Counts } from './report.js';

/** The type of jobs that make index entries anew. */
export const REINDEX = 'reindex';

/** Input of a reindexing job. */
export interface ReindexInput {
  readonly parts: readonly { readonly type: string; readonly where?: Condition }[];
  /** All resources of its types: then their parameters are current at the end. */
  readonly isWhole: boolean;
  /** False: resources are only looked at. */
  readonly makesEntries: boolean;
  /** Greatest number of resources of one step. */
  readonly batchSize: number;
}

interface Checkpoint {
  /** Definitions that the entries are made by. Where others come into effect, the work begins again. */
  readonly by: string;
  readonly part: number;
  readonly after?: string;
  readonly size: number;
  /** Absent: what a search finds is not counted before. */
  readonly total?: number;
  readonly counts: Counts;
}

/** How long one chunk takes, in milliseconds. */
const CHUNK = 1000;

/** Failures that the report names. */
const MAX_NAMED = 100;

/** One chunk of a reindexing: some pages of a type. At the end the types count as current. */
export async function reindexChunk(context: ChunkContext): Promise<ChunkResult> {
  const { job, services, signal } = context;
  const input = job.input as unknown as ReindexInput;
  const set = services.definitions?.current();
  const record = set === undefined ? undefined : await openReindexRecord(services.store, set.maker);
  const by = set?.maker.whole ?? '';
  let at = job.checkpoint as unknown as Checkpoint | undefined;
  if (at?.by !== by) {
    // What other processes write from here on has entries of the same definitions.
    if (services.definitions !== undefined && !(await services.definitions.agreed(signal, set))) return {};
    at = { by, part: 0, size: FIRST_PAGE, ...(await countAll(input, context)), counts: NO_COUNTS };
    return toResult(at);
  }
  const part = input.parts[at.part];
  if (part === undefined) return finish(at, input, record, context);
  let { after, size, counts } = at;
  if (after === undefined && input.isWhole && (await record?.read(part.type))?.isDone === true) {
    return toResult({ ...at, part: at.part + 1 });
  }
  for (const begun = performance.now(); performance.now() - begun < CHUNK;) {
    const count = context.stepSize.next(Math.min(size, input.batchSize));
    const done = await readPage(part, count, after, input, counts, context);
    await context.breathe();
    counts = done.counts;
    ({ size, after } = done);
    if (after === undefined) break;
  }
  const { after: _after, ...rest } = at;
  if (after !== undefined) return toResult({ ...rest, after, size, counts });
  if (input.isWhole) await record?.finish(part.type);
  return toResult({ ...rest, part: at.part + 1, size: FIRST_PAGE, counts });
}

const NO_COUNTS: Counts = { types: {}, failures: [] };

type Part = ReindexInput['parts'][number];

/**
 * Whether the client may know how many resources were indexed: that is data, of which the scope of administration gives nothing. What a
 * search finds lies within the scopes of the client. Of Binaries a `securityContext` may hide some from a client that may search all.
 */
function isCounted({ type, where }: Part, { principal: { access }, services }: ChunkContext): boolean {
  return where !== undefined || searchAccess(access, services.tables.resourceTypes).isWhole(type, 's');
}

async function readPage(
  part: Part,
  size: number,
  after: string | undefined,
  { makesEntries }: ReindexInput,
  counts: Counts,
  context: ChunkContext,
) {
  const { services, signal, breathe, stepSize } = context;
  const { type, where } = part;
  const failures: string[] = [];
  const { store } = services;
  const find = store.find.bind(store);
  const reindex = (items: readonly Reindexed[]) =>
    makesEntries ? stepSize.measure(items.length, () => store.reindex(items)) : Promise.resolve(0);
  const page = await reindexPage(
    { type, size, after, ...(where !== undefined && { where }) },
    {
      ...services,
      ...{ signal, breathe },
      store: { find, reindex },
      onFailure: ({ id }, error) =>
        failures.push(`${type}/${id}: ${error instanceof Error ? error.message : 'failed'}`),
    },
  );
  const { next, size: nextSize } = page;
  if (!isCounted(part, context)) {
    const hasUnnamed = counts.hasUnnamedFailures === true || failures.length > 0;
    return {
      after: next,
      size: nextSize,
      counts: { ...counts, ...(hasUnnamed && { hasUnnamedFailures: true as const }) },
    };
  }
  const before = counts.types[type] ?? { changed: 0, unchanged: 0, failed: 0 };
  const unchanged = page.looked - page.replaced - failures.length;
  const now = {
    changed: before.changed + page.replaced,
    unchanged: before.unchanged + unchanged,
    failed: before.failed + failures.length,
  };
  const named = [...counts.failures, ...failures].slice(0, MAX_NAMED);
  const types = { ...counts.types, [type]: now };
  return { after: next, size: nextSize, counts: { ...counts, types, failures: named } };
}

async function finish(
  { counts }: Checkpoint,
  { parts, isWhole }: ReindexInput,
  record: ReindexRecord | undefined,
  { job, services, now }: ChunkContext,
): Promise<ChunkResult> {
  if (isWhole && record !== undefined) {
    const all = [...(await services.store.counts()).keys()];
    await record.settle(
      parts.map(({ type }) => type),
      all,
    );
  }
  const report = writeReport(counts, job.started ?? job.created, now());
  return { result: { report, counts: counts as unknown as JsonObject } };
}

async function countAll({ parts }: ReindexInput, context: ChunkContext): Promise<{ total?: number }> {
  if (parts.some(({ where }) => where !== undefined)) return {};
  const counts = await context.services.store.counts();
  const counted = parts.filter((part) => isCounted(part, context));
  return { total: counted.reduce((sum, { type }) => sum + (counts.get(type) ?? 0), 0) };
}

function toResult(at: Checkpoint): ChunkResult {
  const done = Object.values(at.counts.types).reduce(
    (sum, each) => sum + each.changed + each.unchanged + each.failed,
    0,
  );
  return {
    checkpoint: at as unknown as JsonObject,
    progress: { done, ...(at.total !== undefined && { total: Math.max(done, at.total) }), unit: 'resources' },
  };
}
