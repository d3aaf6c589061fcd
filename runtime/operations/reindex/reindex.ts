import { issueText } from '../../fhir/operation-outcome.js';
import { neededOn, uniteNeeded } from '../../auth/access/needed-scopes.js';
import type { Call, Reply } from '../../core/call.js';
import type { Services } from '../../core/services.js';
import type { FhirError } from '../../fhir/errors.js';
import type { JsonObject } from '../../fhir/resource.js';
import { REINDEX, type ReindexInput } from '../../jobs/reindex/reindex-job.js';
import { readArguments, valueOf, valuesOf, type Arguments } from '../common/arguments.js';
import { readFilter } from '../export/read-filter.js';
import { jobsOf, statusUrl } from '../common/jobs.js';
import { quote } from '../../fhir/quote.js';
import { invalidParameter } from '../../fhir/catalog/invalid-parameter.js';

const MAX_BATCH = 500;

/** Parameters that choose among some words, each with its words; the first one is meant where it is absent. */
const CHOICES = {
  reindexSearchParameters: ['ALL', 'NONE'],
  optimizeStorage: ['NONE', 'CURRENT_VERSION', 'ALL_VERSIONS'],
  correctCurrentVersion: ['NONE', 'ALL'],
} as const;

/**
 * `$reindex`: starts a job that makes index entries anew. Stored texts have one form only, and a current version cannot lose its
 * place in the history, so that `optimizeStorage` and `correctCurrentVersion` find nothing to do. definitions/operations/reindex.json
 *
 * @throws FhirError `parameter-invalid` and as a search for `url`
 */
export async function startReindex(call: Call, services: Services): Promise<Reply> {
  const found = readArguments(call, services);
  const choices = Object.entries(CHOICES).map(([name, words]) => [name, choiceOf(found, name, words)] as const);
  const chosen = Object.fromEntries(choices);
  if (valueOf(found, 'optimisticLock') === true && chosen['correctCurrentVersion'] === 'ALL') {
    throw invalid('optimisticLock', 'cannot be true together with correctCurrentVersion = ALL');
  }
  for (const id of valuesOf(found, 'partitionId').map(String)) {
    if (id !== '_ALL' && !/^-?[0-9]+$/.test(id))
      throw invalid('partitionId', `is an integer or _ALL, not ${quote(id)}`);
    if (id !== '_ALL') throw invalid('partitionId', `names partition ${id}, but there are no partitions; leave it out`);
  }
  const batch = Number(valueOf(found, 'batchSize') ?? MAX_BATCH);
  const urls = valuesOf(found, 'url')
    .map(String)
    .filter((url) => url.trim() !== '');
  const input: ReindexInput = {
    parts: urls.length === 0 ? await allParts(services) : await readUrls(urls, call, services),
    isWhole: urls.length === 0 && chosen['reindexSearchParameters'] === 'ALL',
    makesEntries: chosen['reindexSearchParameters'] === 'ALL',
    batchSize: batch >= 1 && batch <= MAX_BATCH ? batch : MAX_BATCH,
  };
  return accepted(await startJob(input, call, services), call, services);
}

/** Administration, and the searches that say what is made anew. */
const USES = uniteNeeded([neededOn('*', 'rs'), { scopes: [], customs: ['__admin.reindex'] }]);

/** Starts a reindexing. @returns its id */
export async function startJob(input: ReindexInput, { principal }: Pick<Call, 'principal'>, services: Services) {
  const { id } = await jobsOf(services).start(REINDEX, input as unknown as JsonObject, principal, USES);
  return id;
}

/** All types that have resources. */
export async function allParts({ store }: Pick<Services, 'store'>): Promise<ReindexInput['parts']> {
  return [...(await store.counts()).keys()].sort().map((type) => ({ type }));
}

async function readUrls(urls: readonly string[], call: Call, services: Services): Promise<ReindexInput['parts']> {
  const parts: ReindexInput['parts'][number][] = [];
  for (const url of urls) parts.push(await readFilter(url, 'url', call, services));
  return parts;
}

function accepted(id: string, { prefer }: Call, services: Services): Reply {
  const contentLocation = statusUrl('reindex-status', id, services);
  const issue: JsonObject[] = [
    {
      severity: 'information',
      code: 'informational',
      ...issueText(`The job ${id} is accepted; ask for its progress at ${contentLocation}`),
    },
  ];
  if (prefer.respondAsync !== true) {
    const text = 'A request for work after its answer should say so: Prefer: respond-async';
    issue.push({ severity: 'warning', code: 'informational', ...issueText(text) });
  }
  return { status: 202, contentLocation, resource: { resourceType: 'OperationOutcome', issue } };
}

function choiceOf(found: Arguments, name: string, words: readonly string[]): string {
  const text = valueOf(found, name);
  if (typeof text !== 'string') return words[0]!;
  const word = words.find((each) => each === text.toUpperCase());
  if (word === undefined) throw invalid(name, `is one of ${words.join(', ')}, not ${quote(text)}`);
  return word;
}

function invalid(parameter: string, what: string): FhirError {
  return invalidParameter(parameter, what, { parameter });
}
