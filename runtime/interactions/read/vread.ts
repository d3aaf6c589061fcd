import { FhirError } from '../../fhir/errors.js';
import { newId, versionNumber } from '../../fhir/id.js';
import type { Call, Reply } from '../../core/call.js';
import { isWhollyHiddenByIndex } from '../../core/access/index-visibility.js';
import { checkParameters } from '../../core/parameters.js';
import { replyVersion } from '../../core/reply-version.js';
import type { Services } from '../../core/services.js';
import { isVisible } from '../../core/access/visibility.js';
import { targetOf } from '../../core/target.js';
import { viewParameters } from '../../core/view.js';

/** `GET [base]/[type]/[id]/_history/[vid]`: one version. https://hl7.org/fhir/R5/http.html#vread */
export async function vread(call: Call, services: Services): Promise<Reply> {
  checkParameters(call, viewParameters(services));
  const { type, id } = targetOf(call);
  const version = versionNumber(call.versionId ?? '');
  const isHidden = await isWhollyHiddenByIndex({ type, id }, 'r', call, services);
  const looked = isHidden ? newId() : id;
  const stored = version === undefined ? undefined : await services.store.readVersion(type, looked, version);
  if (stored === undefined || !(await isVisible(stored, 'r', call, services)))
    throw new FhirError('not-found', `There is no version ${call.versionId} of ${type}/${id}`);
  return replyVersion(call, stored, services);
}
