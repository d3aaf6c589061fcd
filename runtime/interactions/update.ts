import { FhirError } from '../fhir/errors.js';
import type { Call, Reply } from './call.js';
import { checkId, checkResource } from './check-resource.js';
import { composePut } from './compose-change.js';
import { checkParameters } from './parameters.js';
import { checkWrite, liveVersion } from './preconditions.js';
import { replyWritten } from './reply-written.js';
import type { Services } from './services.js';
import { targetOf } from './target.js';
import { validateResource } from './validate-resource.js';
import { writeCurrent } from './write-current.js';

/**
 * `PUT [base]/[type]/[id]`: new content; creates what is not there or was deleted. Content equal to the current
 * version keeps it. https://hl7.org/fhir/R5/http.html#update
 */
export async function update(call: Call, services: Services): Promise<Reply> {
  checkParameters(call);
  const { type, id } = targetOf(call);
  const resource = checkResource(call.body, type);
  checkId(resource, id);
  validateResource(resource, call, services);
  const { before, after } = await writeCurrent(services.store, type, id, (current) => {
    checkWrite(call.conditions, current);
    return composePut(resource, id, current, services);
  });
  const live = liveVersion(before);
  if (after !== undefined) {
    return live === undefined ? replyWritten(call, 201, after, 'created') : replyWritten(call, 200, after, 'updated');
  }
  if (live === undefined) throw new FhirError('internal');
  return replyWritten(call, 200, live, 'unchanged');
}
