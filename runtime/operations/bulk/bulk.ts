import type { Content } from '../../auth/access/content.js';
import { scopeMissing } from '../../auth/access/refuse.js';
import { neededFor } from '../../search-execution/authorize/authorize.js';
import type { Call, Reply } from '../../core/call.js';
import { splitQuery } from '../../search-execution/criteria.js';
import type { Services } from '../../core/services.js';
import { FhirError } from '../../fhir/errors.js';
import { noticeOutcome } from '../../fhir/operation-outcome.js';
import type { JsonObject, Resource } from '../../fhir/resource.js';
import { countMatches } from '../../jobs/bulk/bulk-job.js';
import { BULK, type BulkInput } from '../../jobs/bulk/bulk-input.js';
import { readArguments, valueOf, valuesOf } from '../common/arguments.js';
import { keptScopes } from '../async/start-request.js';
import { lastWriteOf } from '../../jobs/export/export-instant.js';
import { readFilter } from '../export/read-filter.js';
import { askedJob, jobsOf, statusUrl } from '../common/jobs.js';

/** `$bulk-delete`: deletes what searches find, by a job. @throws FhirError as `startChange` */
export function bulkDelete(call: Call, services: Services): Promise<Reply> {
  return startChange(BULK.delete, call, services);
}

/** `$bulk-patch`: patches what searches find, by a job. @throws FhirError as `startChange` */
export function bulkPatch(call: Call, services: Services): Promise<Reply> {
  return startChange(BULK.patch, call, services);
}

/**
 * Starts a job that changes each resource that searches find, like a request by itself would. With `dryRun` only their number is reported.
 * definitions/operations/bulk-delete.json
 *
 * @throws FhirError `async-only`, `scope-missing`, `index-not-current`, `parameter-invalid` and as a search for `url`
 */
async function startChange(type: 'bulk-delete' | 'bulk-patch', call: Call, services: Services): Promise<Reply> {
  const found = readArguments(call, services);
  const parts: BulkInput['parts'][number][] = [];
  for (const url of valuesOf(found, 'url').map(String)) {
    const { type: named = '' } = splitQuery(url, services.own);
    // What is no type is refused where the search is read.
    if (services.tables.resourceTypes.includes(named)) checkScopes(named, call, services);
    parts.push(await readFilter(url, 'url', call, services, { refusesStale: true }));
  }
  const patch = type === BULK.patch ? (valueOf(found, 'patch') as Resource) : undefined;
  if (valueOf(found, 'dryRun') === true) {
    const total = await countMatches({ parts }, services, call.signal);
    return {
      status: 200,
      resource: { resourceType: 'Parameters', parameter: [{ name: 'total', valueInteger: total }] },
    };
  }
  const input: BulkInput = {
    base: call.base,
    parts,
    until: await lastWriteOf(services.store),
    ...more(call),
    ...(patch && { patch }),
  };
  return start(type, input, call, services);
}

/**
 * `$bulk-undo`: gives the resources that a job has changed the content that they had before, where nothing has changed them since.
 *
 * @throws FhirError `async-only`, `job-unknown`, `scope-missing`
 */
export async function bulkUndo(call: Call, services: Services): Promise<Reply> {
  const id = String(valueOf(readArguments(call, services), '_jobId'));
  const job = await askedJob([BULK.delete, BULK.patch], id, call, services);
  const { result } = job;
  if (job.state !== 'completed' || typeof result?.['pages'] !== 'number')
    throw new FhirError('job-unknown', 'The job has not ended, or has changed nothing');
  const undoes = { type: job.type, id, pages: result['pages'] };
  return start(BULK.undo, { base: call.base, parts: [], until: 0, ...more(call), undoes }, call, services);
}

function more({ trace }: Call): Pick<BulkInput, 'trace'> {
  return trace === undefined ? {} : { trace };
}

async function start(type: string, input: BulkInput, call: Call, services: Services): Promise<Reply> {
  if (call.prefer.respondAsync !== true) throw new FhirError('async-only');
  const { principal } = call;
  const job = await jobsOf(services).start(type, input as unknown as JsonObject, principal, keptScopes(principal));
  const text = 'The request is taken; ask the address in Content-Location for its state and its result';
  return {
    status: 202,
    contentLocation: statusUrl('async-poll-status', job.id, services),
    headers: { 'Preference-Applied': 'respond-async' },
    resource: noticeOutcome(text),
  };
}

/** @throws FhirError `scope-missing` where the token may not change resources of the type */
function checkScopes(type: string, call: Call, { scopeRows }: Services): void {
  const { access } = call.principal;
  // What the search asks about was checked as for a search.
  const content: Content = {
    ...{ chain: false, 'untyped-chain': false, list: false, in: false },
    'types-named': [type],
  };
  const needed = neededFor(call, content, access, scopeRows);
  if (needed !== undefined) throw scopeMissing(needed, access);
}
