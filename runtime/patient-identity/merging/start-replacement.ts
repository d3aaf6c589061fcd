import { neededOn, uniteNeeded } from '../../auth/access/needed-scopes.js';
import type { Call, Reply } from '../../core/call.js';
import type { Services } from '../../core/services.js';
import { newId } from '../../fhir/id.js';
import type { JsonObject } from '../../fhir/resource.js';
import { keptOf, REPLACEMENT, type ReplacementInput } from '../../jobs/replacement/replacement-input.js';
import { createTask } from '../../jobs/replacement/replacement-task.js';
import { jobsOf } from '../../operations/common/jobs.js';

/** What it reads, and what it changes: whatever refers. */
const USES = uniteNeeded([neededOn('*', 'rus'), { scopes: [], customs: ['__admin.replace-references'] }]);

/**
 * Starts a job that replaces references, of a merge or by itself.
 *
 * @param parameters of the answer, before the Task
 * @returns 202 with the Task in which progress can be followed
 */
export async function startReplacement(
  what: Pick<ReplacementInput, 'activity' | 'source' | 'target' | 'result'>,
  call: Call,
  services: Services,
  parameters: readonly JsonObject[] = [],
): Promise<Reply> {
  const input: ReplacementInput = { ...what, ...keptOf(call), task: newId() };
  const job = await jobsOf(services).start(REPLACEMENT, input as unknown as JsonObject, call.principal, USES);
  const resource = await createTask(job, input, services);
  const parameter = [...parameters, { name: 'task', resource }];
  return {
    status: 202,
    contentLocation: `Task/${input.task}`,
    resource: { resourceType: 'Parameters', parameter },
  };
}
