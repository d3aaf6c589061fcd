import { FhirError } from '../fhir/errors.js';
import { newId } from '../fhir/id.js';
import type { Call, Reply } from './call.js';
import { isHiddenByIndex } from './hidden-by-index.js';
import { checkParameters } from './parameters.js';
import { replyVersion } from './reply-version.js';
import type { Services } from './services.js';
import { isSeen } from './sight.js';
import { targetOf } from './target.js';
import { viewParameters } from './view.js';

/** `GET [base]/[type]/[id]`: the current version. https://hl7.org/fhir/R5/http.html#read */
export async function read(call: Call, services: Services): Promise<Reply> {
  checkParameters(call, viewParameters(services));
  const { type, id } = targetOf(call);
  // What may not be seen is as if it were not there.
  const isHidden = await isHiddenByIndex({ type, id }, 'r', call, services);
  const current = await services.store.read(type, isHidden ? newId() : id);
  if (current === undefined || !(await isSeen(current, 'r', call, services)))
    throw new FhirError('not-found', `There is no ${type}/${id}`);
  return replyVersion(call, current, services);
}
