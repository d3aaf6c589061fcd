import { FhirError } from '../../fhir/errors.js';
import { newId } from '../../fhir/id.js';
import type { Call, Reply } from '../../core/call.js';
import { isHiddenByIndex } from '../../core/access/index-visibility.js';
import { checkParameters } from '../../core/parameters.js';
import { replyVersion } from '../../core/reply-version.js';
import type { Services } from '../../core/services.js';
import { isVisible } from '../../core/access/visibility.js';
import { targetOf } from '../../core/target.js';
import { viewParameters } from '../../core/view.js';

/** `GET [base]/[type]/[id]`: the current version. https://hl7.org/fhir/R5/http.html#read */
export async function read(call: Call, services: Services): Promise<Reply> {
  checkParameters(call, viewParameters(services));
  const { type, id } = targetOf(call);
  // What may not be seen is treated as absent.
  const isHidden = await isHiddenByIndex({ type, id }, 'r', call, services);
  const stored = await services.store.read(type, isHidden ? newId() : id);
  const current = stored ?? (isHidden ? undefined : services.shipped?.byId(type, id, call.base));
  if (current === undefined || !(await isVisible(current, 'r', call, services)))
    throw new FhirError('not-found', `There is no ${type}/${id}`);
  return replyVersion(call, current, services);
}
