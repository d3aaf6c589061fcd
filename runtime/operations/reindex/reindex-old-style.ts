import type { Call, Reply } from '../../core/call.js';
import { ENDED } from '../../core/jobs.js';
import type { Services } from '../../core/services.js';
import { FhirError } from '../../fhir/errors.js';
import { REINDEX } from '../../jobs/reindex/reindex-job.js';
import { FIRST_PAGE, reindexPage } from '../../jobs/reindex/reindex.js';
import { readArguments, valueOf } from '../arguments.js';
import { describeProgress } from '../job-progress.js';
import { jobsOf } from '../jobs.js';
import { allParts, startJob } from './reindex.js';

/** Resources of one step of the job. */
const BATCH = 500;

/**
 * `$mark-all-resources-for-reindexing`: what is marked is made anew at once, by a job.
 * definitions/operations/mark-all-resources-for-reindexing.json
 *
 * @throws FhirError `parameter-invalid`
 */
export async function markForReindexing(call: Call, services: Services): Promise<Reply> {
  const type = valueOf(readArguments(call, services), 'type');
  if (typeof type === 'string' && !services.tables.resourceTypes.includes(type)) {
    throw new FhirError(
      'parameter-invalid',
      `The parameter "type" names no resource type with ${JSON.stringify(type)}`,
    );
  }
  const parts = typeof type === 'string' ? [{ type }] : await allParts(services);
  const id = await startJob({ parts, isWhole: true, makesEntries: true, batchSize: BATCH }, call, services);
  return status(
    `The resources of ${typeof type === 'string' ? type : 'all types'} are marked; the job ${id} indexes them`,
  );
}

/**
 * `$perform-reindexing-pass`: marked resources are indexed by jobs that start at once, so that a pass either is under way or finds
 * nothing. definitions/operations/perform-reindexing-pass.json
 */
export async function performPass(call: Call, services: Services): Promise<Reply> {
  readArguments(call, services);
  const running = (await jobsOf(services).list()).filter(({ type, state }) => type === REINDEX && !ENDED.has(state));
  const [job] = running;
  if (job !== undefined) return status(`A pass is under way: job ${job.id}, ${describeProgress(job)}`);
  return status('0 resources were indexed: none is marked');
}

/** The types whose resources the terminology service looks up by their index entries. */
const TERMINOLOGY = ['CodeSystem', 'ConceptMap', 'NamingSystem', 'ValueSet'];

/**
 * `$reindex-terminology`: makes the index entries anew by which code systems, value sets and maps are found, before it answers.
 * definitions/operations/reindex-terminology.json
 */
export async function reindexTerminology(call: Call, services: Services): Promise<Reply> {
  readArguments(call, services);
  const signal = call.signal ?? new AbortController().signal;
  for (const type of TERMINOLOGY.filter((each) => services.tables.resourceTypes.includes(each))) {
    let place: { size: number; after: string | undefined } = { size: FIRST_PAGE, after: undefined };
    do {
      const page = await reindexPage({ type, ...place }, { ...services, signal });
      place = { size: page.size, after: page.next };
    } while (place.after !== undefined);
  }
  return parameters([{ name: 'success', valueBoolean: true }]);
}

function status(text: string): Reply {
  return parameters([{ name: 'status', valueString: text }]);
}

function parameters(parameter: { name: string; valueString?: string; valueBoolean?: boolean }[]): Reply {
  return { status: 200, resource: { resourceType: 'Parameters', parameter } };
}
